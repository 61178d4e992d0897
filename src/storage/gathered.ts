/** Most questions that are asked together. */
const TOGETHER_MAX = 256

interface Waiting<Q, A> {
  readonly question: Q
  readonly resolve: (answer: A) => void
  readonly reject: (error: unknown) => void
}

/**
 * Asks questions in groups. No timer gathers them: the next group is asked when the last is answered, so a lone question waits
 * for nothing. `ask` answers in the order of the questions.
 */
export class Gathered<Q, A> {
  readonly #ask: (questions: readonly Q[]) => Promise<readonly A[]>
  #waiting: Waiting<Q, A>[] = []
  #isAsking = false

  constructor(ask: (questions: readonly Q[]) => Promise<readonly A[]>) {
    this.#ask = ask
  }

  /** The answer, or the error of its group. */
  ask(question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      if (!this.#isAsking) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isAsking = true
    // Questions of this turn of the event loop belong to the first group.
    await null
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, TOGETHER_MAX)
      try {
        const answers = await this.#ask(group.map(({ question }) => question))
        for (const [i, { resolve }] of group.entries()) resolve(answers[i] as A)
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    this.#isAsking = false
  }
}
