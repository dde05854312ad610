export type StoredAnswer = { scope: string; key: string; status: number; body: string }

type KeyState =
  | { state: 'done'; answer: StoredAnswer }
  | { state: 'underWay'; settled: Promise<void> }
  // The call died between effect and answer: the key is answered with 425 until it is freed.
  | { state: 'stuck'; then: StoredAnswer | undefined }

/** Fineract's Idempotency-Keys: unique per action and entity; failures are stored forever. */
export class AnswerStore {
  readonly #keys = new Map<string, KeyState>()
  readonly #settle = new Map<string, () => void>()

  find(scope: string, key: string): KeyState | undefined {
    return this.#keys.get(nameOf(scope, key))
  }

  begin(scope: string, key: string): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#settle.set(nameOf(scope, key), resolve)
    this.#keys.set(nameOf(scope, key), { state: 'underWay', settled: promise })
  }

  keep(answer: StoredAnswer): void {
    this.#keys.set(nameOf(answer.scope, answer.key), { state: 'done', answer })
    this.#wake(answer.scope, answer.key)
  }

  // If there is no answer to store, the key may be used again.
  free(scope: string, key: string): void {
    this.#keys.delete(nameOf(scope, key))
    this.#wake(scope, key)
  }

  stick(scope: string, key: string, then: StoredAnswer | undefined): void {
    this.#keys.set(nameOf(scope, key), { state: 'stuck', then })
    this.#wake(scope, key)
  }

  unstick(scope: string, key: string): void {
    const state = this.find(scope, key)
    if (state?.state !== 'stuck') return
    if (state.then) this.keep(state.then)
    else this.free(scope, key)
  }

  *everything(): Generator<{ answer: StoredAnswer } | { stuck: { scope: string; key: string } }> {
    for (const [name, state] of this.#keys) {
      if (state.state === 'done') yield { answer: state.answer }
      const [scope = '', key = ''] = name.split('\n')
      if (state.state === 'stuck') yield { stuck: { scope, key } }
    }
  }

  #wake(scope: string, key: string): void {
    this.#settle.get(nameOf(scope, key))?.()
    this.#settle.delete(nameOf(scope, key))
  }
}

/** The line break is a safe separator: a header cannot contain one. */
const nameOf = (scope: string, key: string): string => `${scope}\n${key}`
