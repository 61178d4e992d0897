import { describe, expect, it } from 'vitest'
import type { ChatPiece } from '../../../../marketplace/chat/call.ts'
import { Line } from '../../../../rpc/chat/line.ts'

/** A reader that takes written text when the test says so. */
class Reader {
  readonly written: string[] = []
  #free: (() => void) | null = null
  isSlow = false

  write(text: string | Uint8Array): Promise<void> | undefined {
    this.written.push(String(text))
    if (!this.isSlow) return undefined
    return new Promise((resolve) => {
      this.#free = resolve
    })
  }

  /** Takes all waiting text, and later text at once. */
  async catchUp(): Promise<void> {
    this.isSlow = false
    this.#free?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const events = { piece: ({ index, delta }: ChatPiece) => `${index}${JSON.stringify(delta)}` }
const said = (content: string, index = 0): ChatPiece => ({ index, delta: { content } })

async function attached() {
  const line = new Line(events)
  const reader = new Reader()
  await line.attach(reader)
  return { line, reader }
}

describe('a line to a reader', () => {
  it('who is not there yet is waited for', async () => {
    const line = new Line(events)
    const reader = new Reader()
    const taken = Promise.resolve(line.take(said('a'))).then(() => reader.written.push('go on'))
    expect(await line.opened).toBe('opened')
    await line.attach(reader)
    await taken
    expect(line.take(said('b'))).toBeUndefined()
    expect(reader.written).toEqual(['0{"content":"a"}', 'go on', '0{"content":"b"}'])
  })

  it('who keeps up gets every piece as it came', async () => {
    const { line, reader } = await attached()
    for (const text of ['a', 'b', 'c']) expect(line.take(said(text))).toBeUndefined()
    await line.rest()
    expect(reader.written).toHaveLength(3)
  })

  it('who does not keep up delays no other reader, and gets the texts of each answer together, in order with all else', async () => {
    const { line, reader } = await attached()
    reader.isSlow = true
    const call = { tool_calls: [{ index: 0 }] }
    const pieces = [
      ...[said('a'), said('b'), said('x', 1), said('c'), { index: 0, delta: call }, { index: 0, delta: call }],
      ...[said('d'), said('y', 1), { ...said('e'), logprobs: {} }, said('f'), said('g')],
    ]
    for (const piece of pieces) expect(line.take(piece)).toBeUndefined()
    expect(reader.written).toEqual(['0{"content":"a"}'])
    await reader.catchUp()
    await line.rest()
    const ofCall = `0${JSON.stringify(call)}`
    expect(reader.written.slice(1)).toEqual([
      `0{"content":"bc"}1{"content":"xy"}${ofCall}${ofCall}0{"content":"d"}0{"content":"e"}0{"content":"fg"}`,
    ])
    expect(line.take(said('h'))).toBeUndefined()
    expect(reader.written.at(-1)).toBe('0{"content":"h"}')
  })

  it('loses nothing of thousands of pieces', async () => {
    const { line, reader } = await attached()
    reader.isSlow = true
    const texts = Array.from({ length: 3_000 }, (_, i) => `${i},`)
    for (const text of texts) expect(line.take(said(text))).toBeUndefined()
    await reader.catchUp()
    await line.rest()
    expect(reader.written).toEqual(['0{"content":"0,"}', `0{"content":"${texts.slice(1).join('')}"}`])
  })

  it.each([
    ['text', said('x'.repeat(1_024))],
    ['anything else', { index: 0, delta: { tool_calls: ['x'.repeat(1_000)] } }],
  ])('is not gathered for without an end: %s', async (_, piece) => {
    const { line, reader } = await attached()
    reader.isSlow = true
    let count = 0
    let wait: void | Promise<void>
    do {
      wait = line.take(piece)
      count += 1
    } while (wait === undefined && count < 1_000)
    expect(count).toBeGreaterThan(60)
    expect(count).toBeLessThan(70)
    await reader.catchUp()
    await wait
    expect(line.take(piece)).toBeUndefined()
    expect(reader.written).toHaveLength(3)
  })
})
