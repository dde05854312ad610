import type { Answer } from './answer.ts'

/** The ledger has a loan or client with the external id of the one to create. */
export const isTaken = ({ code }: Pick<Answer, 'code'>): boolean =>
  /^error\.msg\.(loan|client)\.(with|duplicate)\.externalId/.test(code ?? '')

/** On PostgreSQL, the ledger refuses so the later one of two equal creations at once. */
const mayBeTaken = ({ code }: Pick<Answer, 'code'>): boolean =>
  /^error\.msg\.(client\.)?unknown\.data\.integrity\.issue$/.test(code ?? '')

export const refusesDuplicate = (answer: Answer): boolean =>
  answer.outcome === 'refused' && (isTaken(answer) || mayBeTaken(answer))
