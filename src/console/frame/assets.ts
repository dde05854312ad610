import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { PROJECT_FOLDER } from '../../config/project-folder.ts'
import { only } from '../../http/fields/schemas.ts'

const installed = (name: string) => fileURLToPath(import.meta.resolve(name))
const own = fileURLToPath(new URL('src/console/assets', PROJECT_FOLDER))

const FILES = {
  'htmx.js': read(resolve(dirname(installed('htmx.org')), 'htmx.min.js')),
  'pico.css': read(installed('@picocss/pico/css/pico.min.css')),
  'console.css': read(resolve(own, 'console.css')),
  'session.js': read(resolve(own, 'session.js')),
  'upload.js': read(resolve(own, 'upload.js')),
  'icon.svg': read(resolve(own, 'icon.svg')),
}
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const YEAR_SECONDS = 31_536_000

/** The URLs change with the files, so browsers may cache them. */
export const ASSETS = {
  htmx: versioned('htmx.js'),
  pico: versioned('pico.css'),
  style: versioned('console.css'),
  session: versioned('session.js'),
  upload: versioned('upload.js'),
  icon: versioned('icon.svg'),
}

export async function serveAssets(app: FastifyInstance): Promise<void> {
  const schema = { querystring: only({ v: Type.Optional(Type.String()) }) }
  for (const [name, { bytes, version }] of Object.entries(FILES)) {
    app.get<{ Querystring: { v?: string } }>(
      `/assets/${name}`,
      { schema, config: { needs: 'nothing' } },
      async ({ query }, reply) => {
        // During an upgrade, a page of the other version may ask this process, for other bytes than these.
        if (query.v === version)
          reply.header('cache-control', `public, max-age=${YEAR_SECONDS}, immutable`)
        return reply.type(TYPES[extname(name)] ?? '').send(bytes)
      },
    )
  }
}

/** A file is read once: callers who do not read their answers would each hold it open. */
function read(path: string) {
  const bytes = readFileSync(path)
  return { bytes, version: hash('sha256', bytes, 'base64url').slice(0, 12) }
}

function versioned(name: keyof typeof FILES): string {
  return `/console/assets/${name}?v=${FILES[name].version}`
}
