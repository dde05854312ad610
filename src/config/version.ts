import { readFileSync } from 'node:fs'

const MANIFEST = new URL('../../package.json', import.meta.url)

export const version: string = JSON.parse(readFileSync(MANIFEST, 'utf8')).version
