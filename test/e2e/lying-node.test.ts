import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workshop } from '../support/daemon.ts'
import { LyingNode } from '../support/lying-node.ts'

const workshop = new Workshop()
const node = new LyingNode()
beforeAll(() => node.open())
afterAll(() => node.close())

it('what a node says does not move the reader’s cursor, whether it is refused, noted or listed', async () => {
  const evil = '\u001b[2J\u009b1A\u202e'
  node.says('/api/v1', { error: evil, code: evil }, 404)
  node.says('/api/x402', { error: evil, code: evil, details: { suggestions: [evil] } }, 404)
  node.says('/api/v1/pools', { pools: [{ id: evil, name: evil, feeBps: evil }], nextCursor: evil })
  for (const words of [
    ['token', 'show', 'SALT'],
    ['call', 'node-x'],
    ['wallet', 'balance'],
    ['pool', 'list'],
  ]) {
    const { stdout, stderr } = await workshop.run([...words, '--rpc', node.url, '--data-dir', workshop.folder()])
    expect(`${stdout}${stderr}`.replaceAll('\n', '').match(/\p{C}/gu), words.join(' ')).toBeNull()
    expect(stderr.trim().split('\n').length, words.join(' ')).toBe(1)
  }
})
