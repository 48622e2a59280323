const { suites } = require("@mcprove/jest");

suites("evals", { batch: process.env.BATCH === "1" });
