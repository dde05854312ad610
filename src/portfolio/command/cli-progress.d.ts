declare module 'cli-progress' {
  export class SingleBar {
    constructor(options: object)
    start(total: number, value: number, shown: object): void
    update(value: number, shown: object): void
    stop(): void
  }
}
