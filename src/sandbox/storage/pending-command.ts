/** A command without effect until a second person approves it. */
export type PendingCommand = {
  scope: string
  of: 'loan' | 'client' | undefined
  externalId: string | undefined
  maker: string | undefined
  text: string
  run(): object
}
