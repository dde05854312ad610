import { html } from 'hono/html'
import type { Content } from './html.ts'

type File = {
  file_name: string | null
  file_sha256: string | null
  same_as: string | null
  /** Only a gateway's report can be withdrawn. */
  withdrawn_at?: string | null
}

const SHOWN_DIGITS = 12

/** @param pathOf an upload's page, by its id */
export function fileFacts(file: File, pathOf: (id: string) => string): [string, Content][] {
  return [
    ['File', file.file_name],
    ['SHA-256', file.file_sha256],
    ['Same bytes as', sameAs(file, pathOf)],
  ]
}

export function fileColumns<Row extends File>(pathOf: (id: string) => string) {
  return [
    {
      name: 'file_sha256',
      title: 'SHA-256',
      cell: ({ file_sha256: sha256, withdrawn_at }: Row) =>
        sha256 === null
          ? withdrawn_at === null
            ? 'incomplete'
            : null
          : html`<span title="${sha256}">${sha256.slice(0, SHOWN_DIGITS)}…</span>`,
    },
    { name: 'same_as', title: 'Same bytes as', cell: (row: Row) => sameAs(row, pathOf) },
  ]
}

const sameAs = ({ same_as: id }: File, pathOf: (id: string) => string): Content =>
  id === null ? null : html`<a href="${pathOf(id)}">an earlier upload</a>`
