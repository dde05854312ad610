import { spawn } from 'node:child_process'
import { once } from 'node:events'

const MAX_SHOWN = 6_000

/** @throws Error with the end of what it printed, if it fails */
export async function run(program: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      printed = (printed + chunk).slice(-MAX_SHOWN)
    })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${printed}`)
}
