import { describe, expect, it } from 'vitest'
import { decodeHeader } from '../../../../../consensus/block/header.ts'
import type { Answer, Exchange } from '../../../../../src/p2p/peers/exchange.ts'
import type { Turn } from '../../../../../src/p2p/peers/serving.ts'
import { serveChain } from '../../../../../src/p2p/serve/chain.ts'
import { fork, importAll, mineBranch } from '../../../../support/branches.ts'
import { TestChain } from '../../../../support/chain.ts'

const SHARED = 10
const LIGHT = 10

/** A node at the end of a branch, and the blocks of a heavier one from the same fork. */
async function forked() {
  const test = await TestChain.open()
  await test.mineTo(SHARED)
  const other = await fork(test)
  await mineBranch(test, LIGHT, 1)
  return { test, heavier: await mineBranch(other, LIGHT + 2, 2) }
}

/** Asks for all headers. `between` runs once, after `after` headers were read. */
async function headersOf(chain: unknown, { after = 0, between = async () => {} } = {}): Promise<Answer<'headers'>> {
  let answer: ((from: string, request: object, turn: Turn) => Promise<Answer<'headers'>>) | undefined
  const exchange = {
    answer: (protocol: string, handler: never) => {
      if (protocol === 'headers') answer = handler
    },
  }
  serveChain(exchange as unknown as Exchange, { chain: chain as never, held: () => ({}) as never })
  let read = 0
  const turn = {
    due: () => {
      read += 1
      return read === after
    },
    pause: between,
  }
  const { database } = chain as TestChain['chain']
  const request = { locator: [database.idAt(0)], limit: 100 }
  return (answer as NonNullable<typeof answer>)('peer', request, turn as unknown as Turn)
}

describe('headers', () => {
  it('are those of the best chain, all of them', async () => {
    const { test } = await forked()
    const answer = await headersOf(test.chain)
    const heights = 'reply' in answer ? answer.reply.map((bytes) => decodeHeader(bytes)) : []
    expect(heights.map((read) => read.ok && read.value.header.height)).toEqual(
      Array.from({ length: SHARED + LIGHT }, (_, i) => i + 1),
    )
  })

  it.each([SHARED + 3, SHARED + LIGHT])(
    'are refused where the chain moves to another branch while they are read: at %d',
    async (after) => {
      const { test, heavier } = await forked()
      const between = async (): Promise<void> => {
        expect(await importAll(test, heavier)).toBe('connected')
      }
      expect(await headersOf(test.chain, { after, between })).toEqual({ refusal: 'busy' })
    },
  )

  it('are refused while it moves', async () => {
    const { database } = (await forked()).test.chain
    expect(await headersOf({ database, moving: true })).toEqual({ refusal: 'busy' })
  })
})
