import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { changedAt, readComparison, readFaq } from '../../../src/chat/chat-files.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'

const folder = temporaryFolder()
afterAll(() => removeFolder(folder))

const PRODUCT = {
  ...{ parameters: '1T', pricing: '$20', context_window: '200k', math: 'a', writing: 'b', coding: 'c' },
  ...{ multimodal: 'd', web_search: 'e', speed: 'f' },
}
const { speed: _, ...INCOMPLETE } = PRODUCT

function file(content: unknown): string {
  const path = join(folder, 'file.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function reasonOf(read: Promise<Result<unknown>>): Promise<string> {
  const result = await read
  return result.ok ? 'none' : faultMessage(result.fault)
}

describe('a comparison', () => {
  it('is read as it is, whatever products are called, and empty without a file', async () => {
    const comparison = { 'A & B': PRODUCT, constructor: PRODUCT }
    expect(await readComparison(file(comparison))).toEqual({ ok: true, value: comparison })
    expect(await readComparison(null)).toEqual({ ok: true, value: {} })
    expect(await readComparison(file({ A: { ...PRODUCT, math: ' fair ' } }))).toMatchObject({
      value: { A: { math: 'fair' } },
    })
  })

  it('may name a product like a part of the language', async () => {
    const text = `{"__proto__":${JSON.stringify(PRODUCT)}}`
    const read = await readComparison(file(text))
    expect(read.ok && JSON.stringify(read.value)).toBe(text)
  })

  it.each([
    [{ A: INCOMPLETE }, 'A.speed must be a text of 1 to 300 characters'],
    [{ A: { ...PRODUCT, more: 'x' } }, 'A: there is no field "more"'],
    [{ A: { ...PRODUCT, math: 7 } }, 'A.math must be a text'],
    [{ A: { ...PRODUCT, math: ' ' } }, 'A.math must be a text'],
    [{ A: { ...PRODUCT, math: 'x'.repeat(301) } }, 'A.math must be a text'],
    [{ A: [] }, 'A must be an object'],
    [[], 'it must be an object'],
    [null, 'it must be an object'],
    [{ '': PRODUCT }, 'a name must be a text of 1 to 60 characters'],
    [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, PRODUCT])), 'more than 16 products'],
    ['{', 'it is not JSON'],
  ])('cannot be %j', async (content, reason) => {
    const told = await reasonOf(readComparison(file(content)))
    expect(told).toContain(reason)
    expect(told).toContain(join(folder, 'file.json'))
  })
})

describe('questions of the operator', () => {
  it('are read as they are, and none without a file', async () => {
    const faq = [{ question: 'Klingon?', answer: 'Only on Tuesdays.' }]
    expect(await readFaq(file(faq))).toEqual({ ok: true, value: faq })
    expect(await readFaq(null)).toEqual({ ok: true, value: [] })
  })

  it.each([
    [{}, 'it must be a list of at most 64'],
    [Array.from({ length: 65 }, () => ({ question: 'x', answer: 'y' })), 'it must be a list of at most 64'],
    [[{ question: 'x' }], '[0].answer must be a text'],
    [[{ question: 'x', answer: 'y'.repeat(2_001) }], '[0].answer must be a text of 1 to 2000 characters'],
    [[7], '[0] must be an object'],
    [' '.repeat(262_145), 'longer than 262144 characters'],
  ])('cannot be %j', async (content, reason) => {
    expect(await reasonOf(readFaq(file(content)))).toContain(reason)
  })

  it('that are not there are missed', async () => {
    expect(await reasonOf(readFaq(join(folder, 'missing.json')))).toContain('it cannot be read')
  })
})

describe('the last change', () => {
  it('is that of the newest file, not in the future, and now where there is none', async () => {
    const nowMs = Date.parse('2026-11-20T00:00:00Z')
    const [older, newer] = ['older.json', 'newer.json'].map((name) => join(folder, name)) as [string, string]
    for (const path of [older, newer]) writeFileSync(path, '[]')
    utimesSync(older, 1_000, 1_000)
    utimesSync(newer, 2_000, 2_000)
    expect(await changedAt([older, null, newer, join(folder, 'missing')], nowMs)).toBe(2_000_000)
    utimesSync(newer, nowMs, nowMs)
    expect(await changedAt([newer], nowMs)).toBe(nowMs)
    expect(await changedAt([null], nowMs)).toBe(nowMs)
  })
})
