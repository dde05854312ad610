import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fastifyStatic } from '@fastify/static'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { PROJECT_FOLDER } from '../../config/project-folder.ts'
import { closed } from '../../http/fields/schemas.ts'

const installed = (name: string) => fileURLToPath(import.meta.resolve(name))
const own = fileURLToPath(new URL('src/console/assets', PROJECT_FOLDER))

const FILES = {
  'htmx.js': resolve(dirname(installed('htmx.org')), 'htmx.min.js'),
  'pico.css': installed('@picocss/pico/css/pico.min.css'),
  'console.css': resolve(own, 'console.css'),
  'session.js': resolve(own, 'session.js'),
  'upload.js': resolve(own, 'upload.js'),
  'icon.svg': resolve(own, 'icon.svg'),
}

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
  const schema = { querystring: Type.Object({ v: Type.Optional(Type.String()) }, closed) }
  await app.register(fastifyStatic, { root: own, serve: false, immutable: true, maxAge: '365d' })
  for (const [name, file] of Object.entries(FILES))
    app.get(`/assets/${name}`, { schema, config: { needs: 'nothing' } }, async (_, reply) =>
      reply.sendFile(basename(file), dirname(file)),
    )
}

function versioned(name: keyof typeof FILES): string {
  const version = hash('sha256', readFileSync(FILES[name]), 'base64url').slice(0, 12)
  return `/console/assets/${name}?v=${version}`
}
