import { describe, expect, test } from 'vitest'
import { readRobots } from '../../../../src/adapters/robots-rules.ts'

function allowed(text: string, path: string): boolean {
  return readRobots(text, 'Farthing').allows(path)
}

describe('rules', () => {
  test.each([
    ['', '/a', true],
    ['User-agent: *\nDisallow: /', '/a', false],
    ['User-agent: *\nDisallow:', '/a', true],
    ['Disallow: /', '/a', true],
    ['User-agent: other\nDisallow: /', '/a', true],
    ['User-agent: farthing/2.0\nDisallow: /a', '/a', false],
    ['User-agent: *\nDisallow: /\n\nUser-agent: FARTHING\nDisallow: /b', '/a', true],
    ['User-agent: *\nUser-agent: x\nDisallow: /a', '/a', false],
    ['User-agent: x\nUser-agent: Farthing\nDisallow: /a', '/a', false],
    ['User-agent: Farthing\nDisallow: /a\nUser-agent: y\nDisallow: /b', '/b', true],
    [
      'User-agent: Farthing\nDisallow: /a\nUser-agent: y\nDisallow: /c\nUser-agent: Farthing\nDisallow: /b',
      '/b',
      false,
    ],
    ['user-agent : * # all\r\ndisallow : /a # this', '/a/b', false],
    ['User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b', true],
    ['User-agent: *\nAllow: /a\nDisallow: /a', '/a', true],
    ['User-agent: *\nDisallow: /*.pdf$', '/a.pdf', false],
    ['User-agent: *\nDisallow: /*.pdf$', '/a.pdf?b', true],
    ['User-agent: *\nDisallow: /a*b*c', '/a1b2c3', false],
    ['User-agent: *\nDisallow: /a*b*c', '/a1c2b3', true],
    ['User-agent: *\nDisallow: /a$', '/ab', true],
    ['User-agent: *\nDisallow: /a*a$', '/a', true],
    ['User-agent: *\nDisallow: /*?q=', '/x?q=1', false],
    ['User-agent: *\nDisallow: /b%c3%bc', '/b%C3%BC/x', false],
    ['User-agent: *\nDisallow: /b\u00fc', '/b%C3%BC/x', false],
    ['User-agent: *\nSitemap: /x\nDisallow: /a', '/a', false],
  ])('%j says of %s: %s', (text, path, is) => expect(allowed(text, path)).toBe(is))

  test('the longest pattern decides', () => {
    const text = 'User-agent: *\nAllow: /p\nDisallow: /\nDisallow: /page*x'
    expect([allowed(text, '/page'), allowed(text, '/q'), allowed(text, '/page/x')]).toEqual([true, false, false])
  })

  test('patterns that are made to be slow are answered', () => {
    const stars = `User-agent: *\nDisallow: /${'*a'.repeat(200_000)}$`
    const many = `User-agent: *\n${'Disallow: /*a*b*c*d\n'.repeat(2_000)}`
    const path = `/${'a'.repeat(2_000)}`
    expect([allowed(stars, path), allowed(many, path)]).toEqual([true, true])
  })

  test('a site with more patterns than are looked for is not read at all', () => {
    const of = (count: number): string => `User-agent: *\n${'Disallow: /*a*b*c*d\n'.repeat(count)}`
    expect([allowed(of(2_000), '/x'), allowed(of(2_001), '/x')]).toEqual([true, false])
    expect(allowed(`${of(2_001).replace('*', 'other')}User-agent: *\nDisallow: /y`, '/x')).toBe(true)
    expect(allowed(`User-agent: *\n${'Disallow: /y\n'.repeat(40_000)}`, '/x')).toBe(true)
  })

  test('lists of one agent named again and again are one list', () => {
    const once = readRobots('User-agent: *\nDisallow: /a\n', 'Farthing')
    const often = readRobots(`${'User-agent: *\n'.repeat(1_000)}Disallow: /a\n`, 'Farthing')
    expect(often.size).toBe(once.size)
  })
})
