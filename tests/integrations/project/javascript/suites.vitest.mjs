import { suites } from "@mcprove/vitest";

suites("evals", { batch: process.env.BATCH === "1" });
