import { readFileSync } from 'node:fs'
import { PROJECT_FOLDER } from './project-folder.ts'

const MANIFEST = new URL('package.json', PROJECT_FOLDER)

export const version: string = JSON.parse(readFileSync(MANIFEST, 'utf8')).version
