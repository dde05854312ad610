import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { namingSetting } from '../http/connections/naming-setting.ts'
import { backlog } from '../http/limits.ts'
import { listenForOps } from '../ops/ops-port.ts'

/** @returns the URL for callers */
export async function listen(app: FastifyInstance, config: Config): Promise<string> {
  const { HOST: host, PORT: port, OPS_PORT: opsPort } = config
  if (opsPort !== undefined)
    await namingSetting(
      { setting: 'OPS_PORT', host, port: opsPort },
      listenForOps(app, { host, port: opsPort }),
    )
  return namingSetting({ setting: 'PORT', host, port }, app.listen({ host, port, backlog }))
}
