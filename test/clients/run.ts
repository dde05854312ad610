// npm run clients [-- NAME …]: makes a client from the OpenAPI document with each generator whose tools are on this machine, and
// drives a loan with it on a separate service. What a generator needs besides is fetched from its own registry.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startSeparateService } from '../support/embedded/separate-service.ts'
import { CLIENTS, type Client, type Documents } from './generators.ts'

const PRINCIPAL = 1234567.89

const wanted = process.argv.slice(2)
const service = await startSeparateService('clients')
try {
  const { printed, folder } = service
  const url = /API +(\S+)\/api/.exec(printed)?.[1] ?? ''
  const token = /Internal token +(\S+)/.exec(printed)?.[1] ?? ''
  Object.assign(process.env, { LOANOPS_URL: url, LOANOPS_TOKEN: token })
  const documents = await documentsOf(url, folder)
  for (const client of CLIENTS)
    if (wanted.length === 0 || wanted.includes(client.name)) await attempt(client, documents)
} finally {
  await service.stop()
}

async function attempt(client: Client, documents: Documents): Promise<void> {
  const { name, tools, versions } = client
  const missing = tools.filter(tool => spawnSync('which', [tool]).status !== 0)
  if (missing.length > 0) {
    console.log(`skipped  ${name}: ${missing.join(' and ')} not found`)
    return
  }
  const at = performance.now()
  const own = resolve('.data/clients', name)
  mkdirSync(own, { recursive: true })
  try {
    await client.drive({ folder: own, documents })
    await checkPrincipal(`L-${name}`)
    console.log(`works    ${name}: ${versions}, ${((performance.now() - at) / 1_000).toFixed(0)} s`)
  } catch (error) {
    console.log(`fails    ${name}: ${versions}\n${(error as Error).message}`)
    process.exitCode = 1
  }
}

/** Some languages would round it on the way. */
async function checkPrincipal(loan: string): Promise<void> {
  const { operations } = await read(
    `/api/ledger/operations?external_id=${loan}&operation_type=LOAN_CREATE`,
  )
  const { data } = await read(
    `/api/ledger/operations/${encodeURIComponent(operations[0]?.tracking_id)}`,
  )
  if (data?.principal !== PRINCIPAL) throw new Error(`the loan's principal is ${data?.principal}`)
}

async function read(path: string): Promise<any> {
  const { LOANOPS_URL, LOANOPS_TOKEN = '' } = process.env
  const response = await fetch(LOANOPS_URL + path, {
    headers: { 'x-internal-token': LOANOPS_TOKEN },
  })
  return response.json()
}

async function documentsOf(url: string, folder: string): Promise<Documents> {
  const documents = { current: join(folder, 'openapi.json'), old: join(folder, 'openapi-3.0.json') }
  for (const [path, file] of [
    ['/openapi.json', documents.current],
    ['/openapi-3.0.json', documents.old],
  ] as const)
    writeFileSync(file, await (await fetch(url + path)).text())
  return documents
}
