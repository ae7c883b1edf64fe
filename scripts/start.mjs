/**
 * What `pnpm start` runs: builds what is not up to date, then is the program itself. The build says nothing unless it
 * fails or takes a while, and nothing of it goes to stdout, which belongs to the program.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const tsc = `${root}node_modules/typescript/bin/tsc`
const program = `${root}apps/cli/dist/main.js`
const outputs = [
  program,
  ...["protocol/dist/index.js", "client/dist/Client.js", "server/dist/main.js"].map((file) => `${root}packages/${file}`)
]
const isBuilt = () => outputs.every((file) => existsSync(file))

const QUIET_MILLIS = 1500

/** Runs the compiler; what it wrote, when it failed. */
const build = (...more) =>
  new Promise((resolve) => {
    const compiler = spawn(process.execPath, [tsc, "-b", "apps/cli", "--pretty", "false", ...more], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"]
    })
    const said = []
    const patience = setTimeout(
      () => process.stderr.write("Building, this takes a moment the first time …\n"),
      QUIET_MILLIS
    )
    compiler.stdout.on("data", (data) => said.push(data))
    compiler.stderr.on("data", (data) => said.push(data))
    compiler.on("error", (error) => resolve(String(error)))
    compiler.on("close", (code) => {
      clearTimeout(patience)
      resolve(code === 0 ? undefined : Buffer.concat(said).toString() || `the compiler ended with ${code}`)
    })
  })

const giveUp = (message) => {
  process.stderr.write(message)
  process.exit(1)
}

if (!existsSync(tsc)) giveUp("harness: the packages are not installed: run `npx -y pnpm@12 install`\n")
const failure = await build()
if (failure !== undefined) giveUp(`harness: the build failed\n${failure}`)
// The compiler believes its own notes, also when somebody took the output away.
if (!isBuilt()) {
  const again = await build("--force")
  if (again !== undefined || !isBuilt()) giveUp(`harness: the build failed\n${again ?? "no output\n"}`)
}

process.argv[1] = program
await import(pathToFileURL(program).href)
