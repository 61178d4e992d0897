import { meantName } from '../../consensus/primitives/likeness.ts'
import type { Route } from '../contract/route.ts'
import { ROUTES } from '../contract/table.ts'

const ALL = Object.values(ROUTES) as readonly Route[]
/** Prefixes that callers who know another API leave out. The empty one stands for a slash too many at the end. */
const PREFIXES = ['', '/api', '/api/v1'] as const
/** Most parts of a path that may be misspelt. */
const MISSPELT_MAX = 2
const SHOWN_MAX = 200

/** Methods that are served at a path. */
export function methodsAt(path: string): readonly string[] {
  const matches = ALL.filter((route) => patternOf(route.path).test(path))
  return [...new Set(matches.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
}

/** Method and path that an unknown path was probably meant to be; undefined if no route is near. */
export function meantPath(path: string): string | undefined {
  const whole = path.slice(0, SHOWN_MAX).replace(/\/+$/, '')
  for (const prefix of PREFIXES) {
    const route = ALL.find((each) => patternOf(each.path).test(`${prefix}${whole}`))
    if (route !== undefined) return `${route.method} ${prefix}${whole}`
  }
  const near = ALL.flatMap((route) => corrected(whole, route) ?? [])
  return near.toSorted((a, b) => a.misspelt - b.misspelt)[0]?.path
}

function corrected(path: string, { method, path: template }: Route) {
  const [typed, wanted] = [path.split('/'), template.split('/')]
  if (typed.length !== wanted.length) return undefined
  let misspelt = 0
  const parts: string[] = []
  for (const [i, part] of wanted.entries()) {
    const given = typed[i] as string
    if (part === given || (part.startsWith('{') && given !== '')) parts.push(given)
    else if (misspelt < MISSPELT_MAX && meantName(given, [part]) !== undefined) {
      misspelt += 1
      parts.push(part)
    } else return undefined
  }
  return { misspelt, path: `${method} ${parts.join('/')}` }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
}
