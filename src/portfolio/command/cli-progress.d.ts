/** The part of it that we use; the package has no types of its own. */
declare module 'cli-progress' {
  export class SingleBar {
    constructor(options: object)
    start(total: number, value: number, shown: object): void
    update(value: number, shown: object): void
    stop(): void
  }
}
