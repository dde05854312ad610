import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * These ports are outside of those for outgoing connections, which another process could take between our check and
 * the use.
 */
const NOT_OUTGOING = { from: 20_000, below: 32_000 }

export async function freePort(wanted: number): Promise<number> {
  if (wanted !== 0) return tryPort(wanted)
  const port = randomInt(NOT_OUTGOING.from, NOT_OUTGOING.below)
  return tryPort(port).catch(error => {
    if (error.code === 'EADDRINUSE') return freePort(0)
    throw error
  })
}

function tryPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
  })
}
