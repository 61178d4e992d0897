import { expect, it } from 'vitest'
import { blameClient } from '../../../../rpc/mcp/endpoint.ts'

const answer = (message: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_603, message } })

it('turns the report of a validator into an error of the client', () => {
  const report = JSON.stringify([{ code: 'x', path: ['params', 'uri'], message: 'expected string' }])
  expect(JSON.parse(blameClient(answer(report)))).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32_602, message: 'unusable parameters: params.uri expected string' },
  })
})

it.each([
  answer('Internal error'),
  answer('[not JSON'),
  answer('[{"path": 1}]'),
  '{"jsonrpc":"2.0","id":1,"result":{"code":-32603}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"[]"}}',
  '',
  answer(JSON.stringify(new Array(3_000).fill({ path: ['params'], message: 'expected' }))),
])('leaves %s as it is', (text) => {
  expect(blameClient(text)).toBe(text)
})
