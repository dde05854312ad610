import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'

export type Journal = {
  // Resolves once the operating system has the line, which then survives a kill -9.
  append(entry: object): Promise<void>
  replaceBy(entries: Iterable<object>): void
  close(): void
}

/** The books contain clients' names and telephone numbers. */
const PRIVATE = 0o600

export function noJournal(): Journal {
  return { append: async () => {}, replaceBy: () => {}, close: () => {} }
}

export function* readJournal(file: string): Generator<unknown> {
  if (!existsSync(file)) return
  const bytes = readFileSync(file)
  let start = 0
  for (;;) {
    const end = bytes.indexOf(10, start)
    // Anything after the last line break was cut off by a kill, and was never answered.
    if (end < 0) return
    yield JSON.parse(bytes.toString('utf8', start, end))
    start = end + 1
  }
}

export function openJournal(file: string): Journal {
  let descriptor = openSync(file, 'a', PRIVATE)
  let lines: string[] = []
  let written: PromiseWithResolvers<void> | undefined

  function flush(): void {
    const waiting = written
    const text = lines.join('')
    written = undefined
    lines = []
    try {
      if (text) writeFully(descriptor, text)
      waiting?.resolve()
    } catch (error) {
      waiting?.reject(error)
    }
  }

  return {
    // All calls in one turn of the event loop share one write.
    append(entry) {
      lines.push(`${JSON.stringify(entry)}\n`)
      if (!written) {
        written = Promise.withResolvers<void>()
        setImmediate(flush)
      }
      return written.promise
    },
    replaceBy(entries) {
      flush()
      closeSync(descriptor)
      writeFileSync(`${file}.new`, '', { mode: PRIVATE })
      const next = openSync(`${file}.new`, 'a')
      for (const entry of entries) writeFully(next, `${JSON.stringify(entry)}\n`)
      renameSync(`${file}.new`, file)
      descriptor = next
    },
    close() {
      flush()
      closeSync(descriptor)
    },
  }
}

function writeFully(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}
