export default { test: { include: ["javascript/*.vitest.mjs"] } };
