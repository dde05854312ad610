import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { PROJECT_FOLDER } from '../../config/project-folder.ts'

const FOLDER = new URL('migrations/', PROJECT_FOLDER)

export type SqlFile = { name: string; text: string; sha256: string }

export const tableFiles = () => sqlFiles('./', /^\d+-.*\.sql$/)

/** Each file has the hash of all files, because a newer version may take one file back to its older text. */
export function viewFiles(): SqlFile[] {
  const files = sqlFiles('./views/', /\.sql$/)
  const all = [...tableFiles(), ...files].map(({ name, sha256 }) => name + sha256)
  const sha256 = sha256Of(all.join('\n'))
  return files.map(file => ({ ...file, sha256 }))
}

/** The files are kept, because a start asks for them three times. */
const known = new Map<string, SqlFile[]>()

function sqlFiles(folder: string, wanted: RegExp): SqlFile[] {
  const files = known.get(folder) ?? readFiles(folder, wanted)
  known.set(folder, files)
  return files
}

function readFiles(folder: string, wanted: RegExp): SqlFile[] {
  const names = readdirSync(new URL(folder, FOLDER))
    .filter(name => wanted.test(name))
    .sort()
  return names.map(file => {
    const text = readFileSync(new URL(folder + file, FOLDER), 'utf8')
    return { name: folder.slice(2) + file, text, sha256: sha256Of(text) }
  })
}

const sha256Of = (text: string) => hash('sha256', text)
