import { describe, expect, it } from 'vitest'
import { Workshop } from '../support/daemon.ts'

const workshop = new Workshop()
const ID = 'ab'.repeat(32)

describe.concurrent('a command line that is wrong ends with 2, whatever the chain is like:', () => {
  const WRONG: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['an amount that is none', ['wallet', 'send', 'x', 'much'], /"x" is not an address/],
    ['a fee that is no amount', ['stake', '1', '--tier', '0', '--max-fee', 'much'], /"much" is not a plain decimal/],
    ['an address that is none', ['wallet', 'balance', 'nobody'], /"nobody" is not an address/],
    ['an id that is none', ['tx', 'abc'], /"abc" is no id of a transaction: 64 hex digits/],
    ['a block that is none', ['block', 'abc'], /"abc" is no block: a height, an id of 64 hex digits, or latest/],
    ['a page of a word', ['token', 'list', '--limit', 'few'], /--limit is a whole number from 1 to 200/],
    ['a page too long', ['agent', 'list', '--limit', '51'], /--limit is a whole number from 1 to 50/],
    ['a node that is no address', ['tx', ID, '--rpc', 'here'], /--rpc is "here"; allowed: an address like http/],
    ['a typo behind a word', ['call', 'node-a', '--nopay', '--rpc', 'http://x'], /--nopay .* did you mean --no-pay\?/],
    ['a typo before a word', ['call', '--nopay', 'node-a', 'text', 'more'], /--nopay .* did you mean --no-pay\?/],
    ['a switch with a value', ['call', 'node-a', '--no-pay=false'], /--no-pay takes no value/],
    ['a negative amount', ['wallet', 'send', 'x', '-1'], /an amount is above zero/],
  ]

  it.each(WRONG)('%s', async (_, args, words) => {
    const { code, stdout, stderr } = await workshop.run([...args, '--data-dir', workshop.folder()])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(words)
    expect(stderr).toMatch(/^farthing: [^\n]*\n$/)
  })

  it('as one object for a program that asks for JSON, with the same code', async () => {
    for (const [args, code, api] of [
      [['tx', 'abc'], 2, 'usage'],
      [['strat'], 2, 'usage'],
      [['wallet', 'balance', 'nobody'], 2, 'invalid_address'],
      [['wallet', 'balance', '--no-such', '1'], 2, 'config_unknown_key'],
      [['tx', ID, '--rpc', 'http://127.0.0.1:9'], 1, 'node_unreachable'],
    ] as const) {
      const finished = await workshop.run([...args, '--json', '--data-dir', workshop.folder()])
      expect(finished).toMatchObject({ code, stdout: '' })
      const { error } = JSON.parse(finished.stderr) as { error: Readonly<Record<string, unknown>> }
      expect(error).toEqual({ code: api, message: expect.any(String), exitCode: code, details: expect.any(Object) })
    }
  })
})

it('a wallet tells its address without a node, whatever node is named', async () => {
  const flags = ['--data-dir', workshop.folder(), '--rpc', 'http://127.0.0.1:9']
  expect((await workshop.run(['init', ...flags.slice(0, 2)])).code).toBe(0)
  const { code, stdout } = await workshop.run(['wallet', 'address', ...flags])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^dfar1\w+\n$/)])
})
