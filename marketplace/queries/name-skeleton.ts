/**
 * The skeleton of a name, after Unicode report 39: names with the same skeleton look alike. The table covers
 * look-alikes of common typefaces, but not all data of the report, so names with different skeletons may still look
 * alike.
 */
export function nameSkeleton(name: string): string {
  const letters = [...name.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '')].map(asLatin).join('')
  return PAIRS.reduce((text, [pair, letter]) => text.replaceAll(pair, letter), letters)
}

/** Look-alikes of Latin letters. A letter is looked up before and after lower-casing: capitals look different. */
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

/** Pairs of letters that look like one letter. */
const PAIRS = [
  ['rn', 'm'],
  ['vv', 'w'],
  ['ci', 'd'],
] as const

function asLatin(letter: string): string {
  const small = letter.toLowerCase()
  return LATIN.get(letter) ?? LATIN.get(small) ?? small
}
