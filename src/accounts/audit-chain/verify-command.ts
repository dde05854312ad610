import { ConfigError } from '../../config/config.ts'
import { openDatabase } from '../../database/database.ts'
import { LONG_STATEMENT_MS } from '../../database/pool/pool-config.ts'
import type { AuditHead } from './audit-head.ts'
import { verifyAudit } from './verify-audit.ts'

const HEAD = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([0-9a-f]{64})$/i

/** @returns the code with which the process ends: 1 if anything is not as it was sealed */
export async function verifyFromCommand(databaseUrl: string, kept: string | undefined) {
  const known = kept === undefined ? undefined : readHead(kept)
  const options = { max: 1, name: 'loanops-verify-audit', statementMs: LONG_STATEMENT_MS }
  const db = openDatabase(databaseUrl, { ...options, onError() {} })
  try {
    const verified = await verifyAudit(db, known)
    if (typeof verified === 'string') {
      process.stdout.write(`${verified}\n`)
      return 1
    }
    const { sealed, unsealed, head } = verified
    process.stdout.write(
      `The audit has ${sealed + unsealed} rows: ${sealed} are as they were sealed, ${unsealed} are not sealed yet.\n`,
    )
    if (head) process.stdout.write(`Keep elsewhere, for --head: ${head.id}:${head.chain}\n`)
    return 0
  } finally {
    await db.destroy()
  }
}

function readHead(kept: string): AuditHead {
  const [, id, chain] = HEAD.exec(kept.trim()) ?? []
  if (id && chain) return { id: id.toLowerCase(), chain: chain.toLowerCase() }
  throw new ConfigError(
    '--head must be the id and the chain of GET /audit/head, with a colon between them. ' +
      `Example: --head 019ac3f2-58a1-7c4e-9d2b-6f0e1a2b3c4d:${'9f'.repeat(32)}`,
  )
}
