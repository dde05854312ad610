import { randomBytes } from 'node:crypto'

export const callbackSecret = () => `whsec_${randomBytes(32).toString('base64')}`
