/** Most questions that are asked together. */
export const TOGETHER_MAX = 256

interface Waiting<Q, A> {
  readonly question: Q
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/**
 * Asks questions with the same key in groups. No timer gathers them: the next group is asked when the last is answered, so a
 * lone question waits for nothing. `ask` answers in the order of the questions.
 */
export class Gathered<Q, A> {
  readonly #ask: (questions: readonly Q[]) => Promise<readonly A[]>
  /** Questions of the keys that are being asked for. */
  readonly #waiting = new Map<string, Waiting<Q, A>[]>()

  constructor(ask: (questions: readonly Q[]) => Promise<readonly A[]>) {
    this.#ask = ask
  }

  /** The answer, or the error of its group. */
  ask(key: string, question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key)
      const one = { question, resolve, reject }
      if (waiting !== undefined) waiting.push(one)
      else void this.#run(key, [one])
    })
  }

  async #run(key: string, waiting: Waiting<Q, A>[]): Promise<void> {
    this.#waiting.set(key, waiting)
    // Questions of this turn of the event loop belong to the first group.
    await null
    while (waiting.length > 0) {
      const group = waiting.splice(0, TOGETHER_MAX)
      try {
        const answers = await this.#ask(group.map(({ question }) => question))
        for (const [i, { resolve }] of group.entries()) resolve(answers[i] as A)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#waiting.delete(key)
  }
}
