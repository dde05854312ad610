import { inspect } from 'node:util'
import closeWithGrace from 'close-with-grace'
import { startSandboxGateways } from './gateways/gateway-server.ts'
import { startSandbox } from './server.ts'

type Listen = { host: string; port: number }

export async function runSandbox(listen: Listen, flags: string[]): Promise<void> {
  const sandbox = await startSandbox({ ...listen, flags })
  closeAtEnd(sandbox)
  process.stdout.write(`${sandbox.url}\n`)
}

/** Prints the settings that lead to them. */
export async function runSandboxGateways(listen: Listen): Promise<void> {
  const sandbox = await startSandboxGateways(listen)
  const { urlA, urlB, key, secret, controlUrl } = sandbox
  closeAtEnd(sandbox)
  const settings = (name: string, url: string) =>
    `${name}_API_URL=${url} ${name}_API_KEY=${key} ${name}_API_SECRET=${secret}\n`
  process.stdout.write(settings('GATEWAY_A', urlA) + settings('GATEWAY_B', urlB))
  process.stdout.write(`Control: ${controlUrl}\n`)
}

function closeAtEnd(sandbox: { close(): Promise<void> }) {
  closeWithGrace(({ err }) => {
    if (err) process.stderr.write(`${inspect(err)}\n`)
    return sandbox.close()
  })
}
