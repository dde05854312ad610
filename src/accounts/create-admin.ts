import { createInterface, type Interface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../config/config.ts'
import { openDatabase } from '../database/database.ts'
import { requireUpToDate } from '../database/migrate/migrate.ts'
import { programAsker } from './audit.ts'
import { NewPassword, Username } from './credentials.ts'
import { hashPassword } from './passwords/password.ts'
import { refuseWeakTyped } from './passwords/refuse-weak.ts'
import { registerAccount } from './register.ts'

export async function createAdmin(databaseUrl: string, username: string | undefined) {
  if (username === undefined || !Value.Check(Username, username))
    throw new ConfigError(
      `--username must be ${Username.description}. Example: --username asha.rao`,
    )
  const password = await askPassword()
  if (!Value.Check(NewPassword, password))
    throw new ConfigError(`The password must be ${NewPassword.description}`)
  await refuseWeakTyped({ username, password })

  const db = openDatabase(databaseUrl, { max: 1, name: 'loanops-create-admin', onError() {} })
  try {
    await requireUpToDate(db)
    const asker = programAsker('command create-admin')
    const passwordHash = await hashPassword(password)
    const wanted = { username, passwordHash, role: 'admin', madeByCommand: true } as const
    const account = await registerAccount(db, asker, wanted)
    if (account === undefined) throw new ConfigError(`The account ${username} already exists`)
  } finally {
    await db.destroy()
  }
  process.stdout.write(`Created administrator ${username}\n`)
}

/** Prompts twice at a terminal, without echo; otherwise reads the first line of standard input. */
function askPassword(): Promise<string> {
  return process.stdin.isTTY ? askTwice() : firstLine()
}

async function firstLine(): Promise<string> {
  const [line = ''] = (await text(process.stdin)).split('\n', 1)
  return line.replace(/\r$/, '')
}

async function askTwice(): Promise<string> {
  // This stream swallows the echo.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  terminal.on('SIGINT', () => process.exit(130))
  try {
    const password = await ask(terminal, 'Password: ')
    if ((await ask(terminal, 'Repeat password: ')) !== password)
      throw new ConfigError('The passwords do not match')
    return password
  } finally {
    terminal.close()
  }
}

async function ask(terminal: Interface, question: string): Promise<string> {
  // The prompt comes after echo is off, so that nothing typed is shown.
  const answer = terminal.question('')
  process.stderr.write(question)
  const given = await answer
  process.stderr.write('\n')
  return given
}
