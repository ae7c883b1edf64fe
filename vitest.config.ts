import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"],
    // Servers, browsers and child processes of several test files at once would only wait for each other.
    maxWorkers: 2,
    // Files share their worker's modules: reading them anew for each file took a fifth of the time. What a test changes
    // of its process it puts back.
    isolate: false,
    globalSetup: ["scripts/testServer.mjs"],
    testTimeout: 240_000,
    hookTimeout: 120_000
  }
})
