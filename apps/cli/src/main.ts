#!/usr/bin/env node
import * as nodeModule from "node:module"
import { homedir } from "node:os"
import { keepYoungSmall } from "./memory.ts"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`harness: Node 20.19 or later is needed, this is ${process.versions.node}\n`)
  process.exit(1)
}
// Newer Nodes keep compiled code between runs; half the time a short command takes is compiling.
if ("enableCompileCache" in nodeModule && typeof nodeModule.enableCompileCache === "function") {
  nodeModule.enableCompileCache()
}

keepYoungSmall()
const { start } = await import("./process.ts")
await start({ env: process.env, home: homedir() })
