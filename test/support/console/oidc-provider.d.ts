/** The package has no types of its own. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object)
    AuthorizationCode: { adapter: any }
    use(middleware: (context: any, next: () => Promise<void>) => Promise<void>): void
    callback(): (request: object, response: object) => Promise<void>
    interactionFinished(request: object, response: object, result: object): Promise<void>
  }
}
