/** A site's rules for this node's crawler (RFC 9309). */
export interface RobotsRules {
  /** `path` includes the query. */
  readonly allows: (path: string) => boolean
  /** Approximate memory, in characters. */
  readonly size: number
}

/** Rules of a site without restrictions. */
export const ALL_ALLOWED: RobotsRules = { allows: () => true, size: 1 }
/** For a site whose robots.txt cannot be read, or has too many patterns with stars. */
export const NONE_ALLOWED: RobotsRules = { allows: () => false, size: 1 }

interface Rule {
  readonly allow: boolean
  /** Texts between the stars of the pattern. */
  readonly parts: readonly string[]
  readonly isEnd: boolean
  readonly length: number
}

/** Texts with only one possible spelling. */
const PLAIN = /^[\x21-\x24\x26-\x7e]*$/
/** Maximum patterns with stars per site: each costs a search through the path, and no real site needs more. */
const STARRED_MAX = 2_000
const LINE = /^[ \t]*(user-agent|allow|disallow)[ \t]*:[ \t]*([^\s#]*)/i

/**
 * The longest matching pattern decides; of two equally long ones, the allowing one. Time must stay linear in the file
 * and, per rule, in the path, because a stranger wrote the file.
 */
export function readRobots(text: string, product: string): RobotsRules {
  const own: Rule[] = []
  const allAgents: Rule[] = []
  let isNamed = false
  // A set, because a group may name the same agent several times.
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
      if (value === '*') groups.add(allAgents)
      continue
    }
    inAgents = false
    const rule = value === '' ? null : ruleOf(key.toLowerCase() === 'allow', value)
    if (rule !== null) for (const group of groups) group.push(rule)
  }
  const rules = isNamed ? own : allAgents
  if (rules.filter(({ parts }) => parts.length > 1).length > STARRED_MAX) return NONE_ALLOWED
  const size = rules.reduce((sum, { length }) => sum + length + 64, 1)
  return { allows: (path) => isAllowed(rules, path), size }
}

function ruleOf(allow: boolean, pattern: string): Rule {
  const isEnd = pattern.endsWith('$')
  const plain = isEnd ? pattern.slice(0, -1) : pattern
  return { allow, parts: copyOf(normal(plain)).split('*'), isEnd, length: pattern.length }
}

/** A substring would keep the whole file in memory, half a megabyte per site. */
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

/** The leftmost position of each part is enough; only the last part may have to be at the end. */
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

/** One canonical spelling of a path. */
function normal(path: string): string {
  if (PLAIN.test(path)) return path
  return path
    .replace(/[^\x21-\x7e]+/gu, (signs) => encodeURIComponent(signs.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (byte) => byte.toUpperCase())
}
