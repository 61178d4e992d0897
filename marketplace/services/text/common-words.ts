/**
 * Common words by BCP 47 code of their language. A word may be listed for several languages. Many words that are also
 * names, or that English borrowed, are left out.
 */
export const COMMON_WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  en: listed(`the and that this these those with without it its not are you your they their them from which what when who whom whose
    we our us my there but would could should been being has have had does did than then into about after before because only other
    each every any anyone anybody everyone everybody someone nobody nothing something everything of is was were be to in on at for as
    by an a or if so no he she him his her i me am do will can may might must just very too more most much many few some all both
    again never always ever still yet even here how why where while until through during between against under over up down out off
    don't doesn't didn't isn't wasn't can't won't it's i'm i've you're that's couldn't wouldn't good bad great nice well love like
    liked loved hate best worst better worse new old first last one two three five time day year people thing work works worked buy
    bought get got make made go went come came see said say use used need want think know find found arrived late box room service
    price money phone product quality would never terrible excellent awful perfect disappointed recommend avoid waste
    fast slow cheap near met born stay stayed order delivery works fine happy sad easy hard
    said man woman left right today tomorrow yesterday thanks please sorry asked told without within since also there's we're they're would've week weeks month months later early less least half own same such once twice around another`),
  de: listed(`der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen ist sind war waren wird
    werden wurde hat haben hatte ich du er sie es wir ihr mir mich dir dich uns euch ihm ihn ihnen mein meine meinen dein sein seine
    unser unsere mit von vom zu zum zur bei nach aus auf für über unter durch gegen ohne wegen seit bis als wenn weil dass daß ob wie
    wo wer warum auch noch nur schon sehr mehr immer nie wieder hier dort heute morgen gestern jetzt leider gut gute gutes guter gerne
    schlecht schön toll super alles nichts etwas jemand niemand man kann können muss soll möchte im am ins sich so was an in bin bist
    diese dieser dieses viel viele zwischen vor lange kam geht habe zufrieden begeistert kaputt
    produkt ausgezeichnet schrecklich furchtbar wunderbar lieferung kunde kunden kundendienst bestellung bestellt gekauft preis qualität zimmer essen warte wochen tage stunden mal finde kommt funktioniert hund`),
  nl: listed(`de het een en van ik je jij hij zij wij jullie ze niet geen is was zijn waren wordt worden werd heeft hebben had ben bent
    met voor naar bij uit op aan om over door tegen zonder tot als dat dit deze die wat wie waar hoe waarom ook nog maar wel heel erg
    zeer meer altijd nooit weer hier daar vandaag nu goed goede slecht slechte mooi alles niets iets iemand niemand kan kunnen moet
    mijn jouw zijn haar ons onze hun te er zich al dan of omdat laat blij tevreden werkt kwam gaat
    uitstekend verschrikkelijk levering klant bestelling besteld gekocht prijs kwaliteit kamer eten weken dagen uur wacht hond hoeveel kost beste`),
  es: listed(`el la los las un una unos unas y o pero no es son era fue fueron está están estoy estaba estaban ser estar ha han he hay
    había yo tú él ella nosotros ellos ellas usted ustedes me te se lo le les nos mi mis tu tus su sus que qué quien quién cuando
    cuándo donde dónde como cómo por para con sin sobre entre hasta desde hacia muy más menos también tampoco ya todo toda todos todas
    nada algo nadie nunca siempre aquí ahí hoy mañana ayer bien mal bueno buena buenos malo mala mejor peor gracias porque si del al
    de en a este esta esto ese esa eso gusta gustó funciona sirve llegó tiene tengo puede mucho mucha muchos contento niños
    producto excelente pésimo pésima servicio atención cliente compra compré pedido precio calidad habitación comida recomiendo semanas días horas llevo esperando cuánto cuesta perro dos tres`),
  fr: listed(`le la les un une des du de et ou mais ne pas non est sont était étaient été suis es sommes êtes être a ai as avons avez
    ont avait avoir je tu il elle on nous vous ils elles me te se lui leur mon ma mes ton ta tes son sa ses notre votre nos vos leurs
    que qui quoi quel quelle quand où comment pourquoi dans sur sous avec sans par chez vers entre depuis très plus moins trop aussi
    encore toujours jamais rien tout tous toute toutes quelque personne ici aujourd'hui hier demain bien mal bon bonne mauvais
    mauvaise merci parce si au aux ce cet cette ces ça cela y en c' j' l' d' n' s' m' t' qu' fait peut marche belle beau content
    arrivé recommande livre
    produit livraison commande acheté prix qualité chambre nourriture semaines jours heures attends combien coûte chien deux trois toute parfait génial`),
  it: listed(`il lo la i gli le un uno una e o ma non è sono era erano stato stata stati siamo sei essere ha ho hai abbiamo hanno aveva
    avere io tu lui lei noi voi loro mi ti si ci vi ne mio mia miei tuo suo sua suoi nostro che chi cosa quando dove come perché quale
    di a da in con su per tra fra del della dei delle dello degli al alla ai alle dal dalla nel nella nei sul sulla dell' nell' sull'
    all' dall' l' un' d' c' molto molta più meno anche ancora già mai sempre tutto tutta tutti tutte niente nulla qualcosa nessuno qui
    oggi ieri domani bene male buono buona bello bella brutto pessimo ottimo grazie questo questa quello quella funziona consiglio
    arrivato subito insieme benissimo contento
    prodotto eccellente servizio cliente consegna ordine comprato prezzo qualità stanza cibo settimane giorni aspetto quanto costa cane tre perfetto orribile`),
  pt: listed(`o a os as um uma uns umas e ou mas não é são era foi foram está estão estou estava ser estar tem têm tenho tinha há eu tu
    ele ela nós eles elas você vocês me te se lhe nos meu minha meus seu sua seus que quem quando onde como porque por para com sem
    sobre entre até desde muito muita mais menos também já todo toda todos tudo nada algo ninguém nunca sempre aqui hoje amanhã ontem
    bem mal bom boa bons ruim melhor pior obrigado obrigada do da dos das no na nos nas ao à pelo pela de em este esta isto esse essa
    isso num numa gostei gosto funciona chegou recomendo vale
    produto excelente péssimo péssima serviço atendimento cliente entrega pedido comprei preço qualidade quarto comida semanas dias horas esperando quanto custa cachorro duas três`),
  ca: listed(`el la els les un una i o però no és són era ser estar ha han jo tu ell ella nosaltres em et es ho li que qui quan on com
    per amb sense sobre entre fins molt molta més menys també ja tot tota tots res mai sempre aquí avui demà ahir bé del dels al als
    de en aquest aquesta això gràcies`),
  ro: listed(`și sau dar nu este sunt era a au am ai fost eu tu el ea noi voi ei ele mă te se îl îi ne vă meu mea său sa că care cine când
    unde cum de la în din cu fără pe pentru prin până foarte mai mult și tot toate nimic niciodată aici azi bine rău bun bună un o unei
    unui acest această`),
  sv: listed(`och eller men inte är var jag du han hon vi ni de dem mig dig sig oss er min mitt mina din ditt sin sitt en ett den det
    denna detta som att på i av för med utan till från om under över mellan efter mycket mer också bara aldrig alltid allt inget
    ingen något här där idag igår bra dålig dåligt hur vad när varför har hade kan ska skulle blev blir mycket nöjd nöjda
    produkt leverans beställning köpt pris kvalitet rum veckor dagar timmar väntar kostar hund hela dagen`),
  da: listed(`og eller men ikke er var jeg du han hun vi de dem mig dig sig os min mit mine din dit sin sit en et den det denne dette som
    at på i af for med uden til fra om under over mellem efter meget mere også kun aldrig altid alt intet ingen noget her der god godt
    dårlig hvor hvad hvornår hvorfor har havde kan skal ville blev bliver glad gik
    levering bestilling købt pris kvalitet værelse mad uger dage venter koster hund hele dagen`),
  nb: listed(`og eller men ikke er var jeg du han hun vi de dem meg deg seg oss min mitt mine din ditt sin sitt en et ei den det denne
    dette som at på i av for med uten til fra om under over mellom etter veldig mer også bare aldri alltid alt ingenting ingen noe her
    der god godt dårlig hvor hva når hvorfor har hadde kan skal ville ble blir fornøyd med hver
    levering bestilling kjøpt pris kvalitet uker dager venter koster hund hele dagen`),
  pl: listed(`i oraz lub ale nie jest są był była było były być mam ma mają ja ty on ona my wy oni mnie mi cię się go jej ich mój moja
    twój jego nasz to ten ta te tego tej tym że który która które kto co kiedy gdzie jak dlaczego bo w we z ze na do od po przy przez
    dla bez pod nad bardzo więcej też już tylko nigdy zawsze wszystko nic nikt tu tam dziś dobra dobry dobre zły jestem polecam
    dostawa zamówienie cena jakość pokój jedzenie tygodnie dni czekam ile kosztuje cały dzień świetny`),
  cs: listed(`a i nebo ale ne není je jsou byl byla bylo být mám má já ty on ona my vy oni mě mi se si ho jí jejich můj moje to ten ta
    toho že který která kdo co kdy kde jak proč v ve z ze na do od po při pro bez pod nad velmi více také už jen nikdy vždy všechno
    nic nikdo tady dnes dobrý dobrá špatný jsem děkuji`),
  tr: listed(`ve veya ama değil bir bu şu o ben sen biz siz onlar beni seni bana sana benim senin onun bizim çok daha en az hiç her şey
    ne kim nasıl neden nerede için ile gibi kadar sonra önce de da ki mi mı mu mü var yok olan oldu olarak iyi kötü güzel geç geldi
    herkese ederim teşekkürler`),
  fi: listed(`ja tai mutta ei en et emme eivät on oli olen olet ovat ollut minä sinä hän me te he minun sinun hänen tämä tuo se nämä ne
    joka mikä kuka missä milloin miten miksi että jos kun kuin hyvin paljon enemmän myös vain aina koskaan kaikki mitään täällä tänään
    hyvä huono tätä sitä kanssa ilman suosittele suosittelen`),
  hu: listed(`és vagy de nem az egy van vannak volt voltak lesz én te ő mi ti ők engem nekem neked hogy aki ami ez ezt azt mit miért hol
    mikor hogyan nagyon több is csak soha mindig minden semmi senki itt ott ma jó rossz szép meg már még köszönöm`),
  id: listed(`yang dan atau tetapi tidak bukan adalah ada itu ini saya aku kamu anda dia kami kita mereka di ke dari untuk dengan pada
    oleh sangat lebih juga sudah belum hanya selalu semua tidak apa siapa kapan bagaimana karena baik buruk bagus akan bisa harus
    sekali lama`),
}

/** Letters and signs that only a few languages use. */
export const TELLING_LETTERS: readonly (readonly [letters: RegExp, languages: readonly string[]])[] = [
  [/ß/u, ['de']],
  [/[äü]/u, ['de', 'sv', 'fi', 'tr', 'hu']],
  [/ö/u, ['de', 'sv', 'fi', 'tr', 'hu']],
  [/[ñ¿¡]/u, ['es']],
  [/[ãõ]/u, ['pt']],
  [/[êâîûœëï]/u, ['fr', 'pt', 'ro']],
  [/[àèùòì]/u, ['fr', 'it', 'ca']],
  [/[áíúó]/u, ['es', 'pt', 'hu', 'cs']],
  [/ç/u, ['fr', 'pt', 'tr', 'ca']],
  [/å/u, ['sv', 'da', 'nb']],
  [/[øæ]/u, ['da', 'nb']],
  [/[łąęśźżćń]/u, ['pl']],
  [/[ğış]/u, ['tr']],
  [/[řěůčšž]/u, ['cs']],
  [/[őű]/u, ['hu']],
  [/[ășț]/u, ['ro']],
  [/[ơưđ\u1ea0-\u1ef9]/u, ['vi']],
]

function listed(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
