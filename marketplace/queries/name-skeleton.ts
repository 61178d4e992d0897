/**
 * What people tell apart when they read a name, after the skeletons of Unicode's report 39: compatibility forms are taken
 * apart, marks and all that is neither letter nor digit dropped, capitals written small, and letters that pass for Latin
 * ones written as these. The table holds what looks the same in common typefaces of Cyrillic, Greek, Armenian, Cherokee
 * and extended Latin, not all of that report's data; two names of different skeletons may still be mistaken for each other.
 */
export function nameSkeleton(name: string): string {
  const letters = [...name.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '')].map(asLatin).join('')
  return PAIRS.reduce((text, [pair, letter]) => text.replaceAll(pair, letter), letters)
}

/** Latin letter, and what passes for it. Looked up before and after letters are written small, since capitals differ. */
const PASSING: Readonly<Record<string, string>> = {
  a: 'аɑαΑАᎪⱥ',
  b: 'ЬВΒвβᏴɓ8Ƅ',
  c: 'сСϲⅽᏟƈ',
  d: 'ԁⅾᎠɗđð',
  e: 'еЕΕєҽᎬɛε',
  f: 'ƒҒғϝ',
  g: 'ɡԍԌɢᏀց',
  h: 'һНΗнհᎻћ',
  i: 'іІΙιɩıӏᎥ1lLⅼ',
  j: 'јЈϳᎫʝ',
  k: 'кКΚκᏦƙ',
  m: 'мМΜᎷⅿ',
  n: 'пΝոηᴎ',
  o: 'оОΟοσօՕ0Ѳ၀øΘθ',
  p: 'рРΡρᏢƿ',
  q: 'ԛԚգ',
  r: 'гᎡʀɾᴦ',
  s: 'ѕЅՏᏚƽ5ʂ',
  t: 'тТΤτᎢŧ',
  u: 'υսʋ',
  v: 'νѵѴⅴᏙ',
  w: 'ԝԜᎳωѡա',
  x: 'хХΧχⅹ',
  y: 'уУΥγүҮʏყ',
  z: 'ΖᏃʐ2ƶ',
}

const LATIN = new Map(
  Object.entries(PASSING).flatMap(([letter, others]) => [...others].map((other) => [other, letter])),
)

/** Letters that pass for another when they stand side by side. */
const PAIRS = [
  ['rn', 'm'],
  ['vv', 'w'],
  ['ci', 'd'],
] as const

function asLatin(letter: string): string {
  const small = letter.toLowerCase()
  return LATIN.get(letter) ?? LATIN.get(small) ?? small
}
