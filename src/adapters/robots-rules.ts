/** What a site asks of this node's kind (RFC 9309). */
export interface RobotsRules {
  /** Whether a path with its query may be read. */
  readonly allows: (path: string) => boolean
  /** About how much memory they take. */
  readonly size: number
}

/** Rules of a site that asks for nothing. */
export const ALL_ALLOWED: RobotsRules = { allows: () => true, size: 1 }
/** Rules of a site that cannot say what it asks for. */
export const NONE_ALLOWED: RobotsRules = { allows: () => false, size: 1 }

interface Rule {
  readonly allow: boolean
  /** Texts between the stars. */
  readonly parts: readonly string[]
  readonly isEnd: boolean
  readonly length: number
}

/** Spelled in one way only. */
const PLAIN = /^[\x21-\x24\x26-\x7e]*$/
/** Patterns with stars that a site may have: each is looked for in the whole path, and no site needs more. */
const STARRED_MAX = 2_000
const LINE = /^[ \t]*(user-agent|allow|disallow)[ \t]*:[ \t]*([^\s#]*)/i

/**
 * Reads robots.txt for a product token. The rule with the longest pattern decides, and of two alike the one that allows. Work
 * is linear in the file and, for each rule, in the path: the file is a stranger's.
 */
export function readRobots(text: string, product: string): RobotsRules {
  const own: Rule[] = []
  const everybody: Rule[] = []
  let isNamed = false
  // Each list once, however often its agent is named.
  let groups = new Set<Rule[]>()
  let inAgents = false
  for (const line of text.split(/[\r\n]+/)) {
    const [, key = '', value = ''] = LINE.exec(line) ?? []
    if (key === '') continue
    if (key.toLowerCase() === 'user-agent') {
      if (!inAgents) groups = new Set()
      inAgents = true
      const isOwn = value.toLowerCase().split('/')[0] === product.toLowerCase()
      isNamed ||= isOwn
      if (isOwn) groups.add(own)
      if (value === '*') groups.add(everybody)
      continue
    }
    inAgents = false
    const rule = value === '' ? null : ruleOf(key.toLowerCase() === 'allow', value)
    if (rule !== null) for (const group of groups) group.push(rule)
  }
  const rules = isNamed ? own : everybody
  if (rules.filter(({ parts }) => parts.length > 1).length > STARRED_MAX) return NONE_ALLOWED
  const size = rules.reduce((sum, { length }) => sum + length + 64, 1)
  return { allows: (path) => isAllowed(rules, path), size }
}

function ruleOf(allow: boolean, pattern: string): Rule {
  const isEnd = pattern.endsWith('$')
  const plain = isEnd ? pattern.slice(0, -1) : pattern
  return { allow, parts: copyOf(normal(plain)).split('*'), isEnd, length: pattern.length }
}

/** A text of its own: a piece of a text keeps all of that text in memory, half a megabyte for each site. */
function copyOf(text: string): string {
  return Buffer.from(text).toString()
}

function isAllowed(rules: readonly Rule[], path: string): boolean {
  const wanted = normal(path)
  let best: Rule | null = null
  for (const rule of rules) {
    const isStronger = best === null || rule.length > best.length || (rule.length === best.length && rule.allow)
    if (isStronger && matches(rule, wanted)) best = rule
  }
  return best?.allow ?? true
}

/** The leftmost place of each part is as good as any, but for the last, which may have to be at the end. */
function matches({ parts, isEnd }: Rule, path: string): boolean {
  const [head = '', ...rest] = parts
  if (!path.startsWith(head)) return false
  let at = head.length
  const last = rest.pop()
  if (last === undefined) return !isEnd || at === path.length
  for (const part of rest) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return isEnd ? path.length - last.length >= at && path.endsWith(last) : path.indexOf(last, at) >= 0
}

/** One spelling of what can be written in several: signs beyond ASCII by their bytes, bytes in capitals, nothing more. */
function normal(path: string): string {
  if (PLAIN.test(path)) return path
  return path
    .replace(/[^\x21-\x7e]+/gu, (signs) => encodeURIComponent(signs.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (byte) => byte.toUpperCase())
}
