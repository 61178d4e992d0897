import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ask, type Reply } from '../../support/api.ts'
import { wallet } from '../../support/chain.ts'
import { ApiChecker, type ApiDocument } from '../../support/openapi-check.ts'
import { ROOT } from '../../support/source-tree.ts'
import { closeDoors, TabDoor } from '../../support/tab-door.ts'

afterEach(closeDoors)

const checker = new ApiChecker(JSON.parse(readFileSync(join(ROOT, 'rpc/openapi.json'), 'utf8')) as ApiDocument)

function check(operationId: string, reply: Reply<object>, status: number): void {
  expect([operationId, reply.status]).toEqual([operationId, status])
  expect(checker.misfits(operationId, reply as Reply), reply.text.slice(0, 300)).toEqual([])
}

it('the document of the API describes what the operations of tabs really answer', async () => {
  const door = await TabDoor.open()
  const payer = await door.newPayer()
  check('openTab', await door.handOver(payer.opening), 200)
  await door.market.mineWaiting()
  const close = await door.market.test.tx(wallet(1), 'tab_close', { tabId: payer.tabId })
  check('openTab', await door.handOver(close), 400)
  const voucher = payer.voucher('ok')
  check('callService', await door.call('ok', voucher), 200)
  check('callService', await door.call('fail', payer.voucher('fail')), 502)
  check('callService', await door.call('ok', payer.voucher('ok', { seq: 1 })), 402)
  check('callService', await door.call('ok', null, { query: '?rail=tab' }), 402)
  check('callService', await door.call('refuse', payer.voucher('refuse', { seq: 3 })), 400)
  const { timeMs, signature } = payer.query('state')
  const [path, asked] = [`/api/tabs/${payer.tabId}`, `timeMs=${timeMs}&signature=${signature}`]
  check('getTab', await ask(door.url, path), 200)
  check('getTab', await ask(door.url, `${path}?${asked}`), 200)
  check('getTab', await ask(door.url, `${path}?timeMs=1&signature=${signature}`), 400)
  check('getTab', await ask(door.url, `/api/tabs/${'ab'.repeat(32)}`), 404)
  check('listTabReceipts', await ask(door.url, `${path}/receipts?${asked}`), 200)
  check('listTabReceipts', await ask(door.url, `${path}/receipts`), 400)
  const wrong = `timeMs=${timeMs}&signature=${payer.query('refund').signature}`
  check('listTabReceipts', await ask(door.url, `${path}/receipts?${wrong}`), 401)
  check('getAgent', await ask(door.url, '/api/v1/agents/shop'), 200)
  check('listServices', await ask(door.url, '/services.json'), 200)
  check('getProtocol', await ask(door.url, '/.well-known/x402'), 200)
  check('quoteService', await door.get(null), 402)
  check('quoteService', await door.get(payer.refund()), 200)
  check('quoteService', await door.get(voucher), 402)
})
