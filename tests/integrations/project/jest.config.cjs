module.exports = { testMatch: ["**/javascript/*.jest.cjs"], testEnvironment: "node" };
