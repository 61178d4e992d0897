import { beforeAll, describe, expect, it } from 'vitest'
import { checkRequest } from '../../../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../../../marketplace/services/table.ts'
import { type ServiceChain, serviceChain } from '../../../support/service-chain.ts'

/**
 * Texts that fill a request: line ends, blanks, combining marks, and beginnings of patterns, at each of which a
 * careless regular expression starts anew.
 */
const FILLERS = [
  ...['\r', '\n', '\r\n', '\u2028', '\u2029', '\u0085', '\u000b', '\r\u2028 ', ' ', '\t', '\u00a0', '\u200b', '\u00ad'],
  ...['(', '[', '{', '"', '\\', '<', '&', '&#', '- ', '1. ', 'A:', 'A: ', '[1', '12:00 ', '.', 'A.', 'St ', "a'", '-a'],
  ...['0', '1,', '1e', '0x', '=', '@', 'a@', 'a.', '/', '->', '%', '\u0301', '\u{1f525}', '{"a":', '[[', '{"":{}},'],
]

/** Property names of every JavaScript object, and variants of one. They become members of a request. */
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'con structor', 'Constructor']

let chain: ServiceChain
beforeAll(async () => {
  chain = await serviceChain()
})

/** Whether each service accepts a request. The check is free, runs on the main thread, and must not throw. */
function taken(make: (chars: number) => string): readonly boolean[] {
  return SERVICE_TABLE.map((definition) => {
    const request = make(definition.requestCharsMax)
    return checkRequest(definition, request.toWellFormed(), chain.context).ok
  })
}

describe('the free check of a request, as long as a service takes it', () => {
  // Quadratic work would take minutes, and the test would time out.
  it.each(FILLERS)('ends where it is full of %j', (filler) => {
    const fill = (chars: number): string => filler.repeat(Math.max(0, Math.floor((chars - 2) / filler.length)))
    expect(taken((chars) => `a${fill(chars)}a`)).toHaveLength(SERVICE_TABLE.length)
    expect(taken(fill)).toHaveLength(SERVICE_TABLE.length)
  })

  it.each(NAMES)('is a refusal or none where it has a member %s', (name) => {
    for (const make of [`{"${name}":1}`, `{"items":[{"${name}":1}]}`, `{"buyer":{"${name}":"x"},"${name}":{}}`, name])
      expect(taken(() => make)).toHaveLength(SERVICE_TABLE.length)
  })
})
