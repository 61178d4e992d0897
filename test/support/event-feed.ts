import { type ClientRequest, type IncomingMessage, request } from 'node:http'

/** An event with its data parsed. */
export interface FedEvent {
  readonly event: string
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A reader of an event stream. Like a browser, it remembers the id of the last event. A test can pause it. */
export class EventFeed {
  readonly events: FedEvent[] = []
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** Id of the last event, to resume from. */
  lastId: string | undefined
  ended = false
  readonly #sent: ClientRequest
  readonly #response: IncomingMessage
  #rest = ''

  private constructor(sent: ClientRequest, response: IncomingMessage, lastId: string | undefined) {
    this.#sent = sent
    this.#response = response
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    this.lastId = lastId
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('error', () => {})
    response.on('close', () => {
      this.ended = true
    })
  }

  /** Opens a stream; `lastId` is sent as `Last-Event-ID`. */
  static open(url: string, path: string, lastId?: string): Promise<EventFeed> {
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
    return new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { headers, agent: false }, (response) =>
        resolve(new EventFeed(sent, response, lastId)),
      )
      sent.on('error', reject)
      sent.end()
    })
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.#response.pause()
  }

  /** Reads on. */
  resume(): void {
    this.#response.resume()
  }

  /** Hangs up. Keeps the events that came before. */
  close(): void {
    this.#response.removeAllListeners('data')
    this.#sent.destroy()
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop() as string
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      const [event, id, data] = [fields.get('event'), fields.get('id'), fields.get('data')]
      if (id !== undefined) this.lastId = id
      if (event !== undefined) this.events.push({ event, id: id ?? '', data: JSON.parse(data as string) })
    }
  }
}

/** What a client knows that learns only from events. */
export class Follower {
  /** Blocks of the best chain, the oldest first. */
  readonly blocks: { readonly id: string; readonly height: number }[] = []
  /** Closed calls by payment: how each ended, and in which block. */
  readonly closed = new Map<string, { readonly how: string; readonly blockId: string; readonly height: number }>()
  /** Steps of tabs, the oldest first. */
  readonly tabs: { readonly blockId: string; readonly step: FedEvent['data'] }[] = []
  /** A line for each event that contradicts earlier ones. */
  readonly oddities: string[] = []
  resets = 0

  apply({ event, id, data }: FedEvent): void {
    const blockId = id.split('.')[0] as string
    if (event === 'block') this.#join(data as { id: string; height: number })
    else if (event === 'reorganisation') this.#leave(data as { left: string[]; commonAncestor: { id: string } })
    else if (event === 'reset') {
      this.resets += 1
      this.blocks.length = 0
      this.closed.clear()
      this.tabs.length = 0
    } else if (event === 'tab') this.tabs.push({ blockId, step: data })
    else this.#close(event, blockId, data)
  }

  #join({ id, height }: { id: string; height: number }): void {
    const top = this.blocks.at(-1)
    if (top !== undefined && top.height + 1 !== height) this.oddities.push(`block ${height} after ${top.height}`)
    this.blocks.push({ id, height })
  }

  #leave({ left, commonAncestor }: { left: readonly string[]; commonAncestor: { readonly id: string } }): void {
    for (const id of left) {
      const top = this.blocks.at(-1)
      if (top === undefined) break
      if (top.id !== id) this.oddities.push(`${id} left, but ${top.id} is the last one known`)
      this.blocks.pop()
      for (const [txId, { blockId }] of this.closed) if (blockId === id) this.closed.delete(txId)
      while (this.tabs.at(-1)?.blockId === id) this.tabs.pop()
    }
    const top = this.blocks.at(-1)
    if (top !== undefined && top.id !== commonAncestor.id) this.oddities.push('the common ancestor is another one')
  }

  #close(event: string, blockId: string, data: FedEvent['data']): void {
    const txId = String(data.txId)
    if (this.closed.has(txId)) this.oddities.push(`${txId} was closed twice`)
    if (this.blocks.at(-1)?.id !== blockId) this.oddities.push(`${txId} was closed in a block that is not the last`)
    const how = event === 'receipt' ? 'delivered' : String(data.how)
    this.closed.set(txId, { how, blockId, height: Number(data.height) })
  }
}
