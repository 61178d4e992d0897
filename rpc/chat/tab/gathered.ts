type Fields = Readonly<Record<string, unknown>>

/** A choice of a chat that was put together from the pieces of its stream. */
export interface GatheredChoice {
  readonly index: number
  readonly message: Fields
  readonly logprobs: null
  readonly finish_reason: string
}

interface Call {
  id: unknown
  type: unknown
  name: unknown
  args: string
}

interface Gathered {
  content: string
  refusal: string | null
  readonly calls: Map<number, Call>
  readonly others: Record<string, unknown>
}

/**
 * Puts the pieces of a streamed chat together. Seller and client do it by the same rules, so that the client can check the hash of the
 * result in its receipt.
 */
export class GatheredChat {
  readonly #choices = new Map<number, Gathered>()

  /** Whether a piece has come. */
  get hasBegun(): boolean {
    return this.#choices.size > 0
  }

  /** Takes the delta of a choice. */
  take(index: number, { role: _, content, refusal, tool_calls: calls, ...others }: Fields): void {
    const choice = this.#choiceAt(index)
    if (typeof content === 'string') choice.content += content
    if (typeof refusal === 'string') choice.refusal = (choice.refusal ?? '') + refusal
    if (Array.isArray(calls)) for (const call of calls) takeCall(choice.calls, call as Fields)
    for (const [name, value] of Object.entries(others)) {
      const known = choice.others[name]
      if (value === null || value === undefined) continue
      choice.others[name] = typeof value === 'string' && typeof known === 'string' ? known + value : value
    }
  }

  /** The choices in order. `reasonOf` names why each ended. */
  choices(reasonOf: (index: number) => string): readonly GatheredChoice[] {
    const indexes = [...this.#choices.keys()].sort((a, b) => a - b)
    return indexes.map((index) => {
      const message = messageOf(this.#choiceAt(index))
      return { index, message, logprobs: null, finish_reason: reasonOf(index) }
    })
  }

  #choiceAt(index: number): Gathered {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const made: Gathered = { content: '', refusal: null, calls: new Map(), others: {} }
    this.#choices.set(index, made)
    return made
  }
}

function takeCall(calls: Map<number, Call>, { index, id, type, function: called }: Fields): void {
  const at = typeof index === 'number' ? index : calls.size
  const call = calls.get(at) ?? { id: null, type: 'function', name: null, args: '' }
  const { name, arguments: args } = (called ?? {}) as Fields
  calls.set(at, {
    id: id ?? call.id,
    type: type ?? call.type,
    name: name ?? call.name,
    args: call.args + (typeof args === 'string' ? args : ''),
  })
}

function messageOf({ content, refusal, calls, others }: Gathered): Fields {
  const called = [...calls].sort(([a], [b]) => a - b)
  const toolCalls = called.map(([, { id, type, name, args }]) => ({ id, type, function: { name, arguments: args } }))
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    refusal,
    ...others,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  }
}
