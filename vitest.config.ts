import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts"],
    // Servers, browsers and child processes of several test files at once would only wait for each other.
    maxWorkers: 2,
    globalSetup: ["scripts/testServer.mjs"],
    testTimeout: 240_000,
    hookTimeout: 120_000
  }
})
