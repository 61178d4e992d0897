import { expect, it } from 'vitest'
import { faultMessage } from '../../../../consensus/primitives/fault.ts'
import { HttpEndpointProbe } from '../../../../src/adapters/endpoint-probe.ts'
import { libreTranslate } from '../../../../src/adapters/providers/libretranslate.ts'
import { saidError } from '../../../../src/chat/backends/chat-answer.ts'

it.each([
  ['https://ada:s3cret@node.example/base', 'https://node.example/base'],
  ['https://node.example/base?key=s3cret', 'https://node.example/base'],
  ['https://node.example:8443', 'https://node.example:8443'],
])('the check of %s shows %s', (base, shown) => {
  const probe = new HttpEndpointProbe(base)
  expect([probe.target, probe.readiness().available]).toEqual([shown, true])
})

it('a translation does not show the address of the server that the operator chose', () => {
  expect(libreTranslate('http://10.0.0.7:5000/s3cret', null).url).toBe('https://libretranslate.com')
})

it('an error text that mentions keys is not repeated', () => {
  const told = saidError('house', { message: 'Incorrect API key provided: sk-s3cret. Find yours in your account.' })
  expect(told.ok ? '' : faultMessage(told.fault)).toBe(
    'house gave an unusable answer: an error that has to do with keys or tokens',
  )
})

it('any other error text is repeated', () => {
  const told = saidError('house', { message: 'The server is overloaded', code: 503 })
  expect(told).toMatchObject({ fault: { detail: { reason: 'The server is overloaded', status: 503 } } })
})
