import { createInterface, type Interface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ConfigError } from '../../config/config.ts'

/** Prompts twice at a terminal, without echo; otherwise reads the first line of standard input. */
export function askPassword(): Promise<string> {
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
