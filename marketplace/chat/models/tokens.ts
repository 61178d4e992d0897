/** A longer text is sampled. Each piece begins at a random place in its part, since a caller could put blanks at known places. */
const READ = { max: 131_072, pieces: 32, chars: 4_096 }

/**
 * Cost of one kind of characters: `whole` in a row make one token, and each further one costs `more`. `below` ends its
 * range of codes.
 */
interface Kind {
  readonly below: number
  readonly whole: number
  readonly more: number
  /** Extra cost of each character, because it is rare or has no token of its own. */
  readonly each?: number
  /** Kinds with the same name form words together. */
  readonly word?: 'latin' | 'greek' | 'cyrillic' | 'arabic' | 'indian' | 'chinese' | 'korean' | 'pair'
}

const [LF, CR] = [10, 13]

const BLANK: Kind = { below: 0, whole: 64, more: 1 / 64 }
const TAB: Kind = { below: 0, whole: 16, more: 1 / 16 }
const BREAK: Kind = { below: 0, whole: 8, more: 1 / 16 }
const DIGIT: Kind = { below: 0, whole: 3, more: 1 / 3 }
const MARK: Kind = { below: 0, whole: 2, more: 1 / 3 }
/** Non-ASCII signs that have their own tokens. */
const SIGN: Kind = { below: 0, whole: 1, more: 0.55 }
/** Lines of tables and trees: many in a row are few tokens. */
const LINE: Kind = { below: 0, whole: 16, more: 1 / 16 }
const CONTROL: Kind = { below: 0, whole: 1, more: 1 }
const LETTER: Kind = { below: 0, whole: 7, more: 0.42, word: 'latin' }
const GREEK: Kind = { below: 0, whole: 3, more: 0.45, word: 'greek' }
const CYRILLIC: Kind = { below: 0, whole: 5, more: 0.36, word: 'cyrillic' }
const ARABIC: Kind = { below: 0, whole: 3, more: 0.5, word: 'arabic' }
const INDIAN: Kind = { below: 0, whole: 4, more: 0.45, word: 'indian' }
const CHINESE: Kind = { below: 0, whole: 1, more: 0.72, word: 'chinese' }
const KOREAN: Kind = { below: 0, whole: 1, more: 0.62, word: 'korean' }
/** Surrogates: first halves of emoji, and all second halves. */
const PAIR: Kind = { below: 0, whole: 2, more: 0.8, word: 'pair' }
/** Characters without a token of their own: the encoding has a token for their first two bytes, or none. */
const TWO: Kind = { below: 0, whole: 1, more: 1, each: 1 }
const THREE: Kind = { below: 0, whole: 1, more: 1, each: 2 }

/**
 * Fitted to the encoding o200k_base on prose in sixteen languages, program text, JSON and random letters. Kinds are
 * told by UTF-16 unit, so that surrogates are counted one by one.
 */
const OTHERS: readonly Kind[] = [
  { ...TWO, below: 0xa0 },
  { ...SIGN, below: 0xc0 },
  { ...LETTER, below: 0x100, each: 0.25 },
  { ...LETTER, below: 0x370, each: 0.7 },
  { ...GREEK, below: 0x3d0 },
  { ...GREEK, below: 0x400, each: 1.3 },
  { ...CYRILLIC, below: 0x460 },
  { ...CYRILLIC, below: 0x530, each: 1.5 },
  // Armenian, Hebrew, Arabic.
  { ...ARABIC, below: 0x700, each: 1.3 },
  // Syriac, Thaana, NKo.
  { ...TWO, below: 0x800 },
  { ...THREE, below: 0x900 },
  // Indian scripts and Thai.
  { ...INDIAN, below: 0xe60, each: 1.3 },
  // Lao.
  { ...TWO, below: 0xf00 },
  // Tibetan.
  { below: 0xfc0, whole: 1, more: 1, each: 0.6 },
  { ...THREE, below: 0x1000 },
  // Burmese.
  { ...INDIAN, below: 0x1060, each: 1.3 },
  { ...TWO, below: 0x10d0 },
  // Georgian.
  { below: 0x1100, whole: 4, more: 0.45 },
  // Parts of Korean syllables.
  { ...THREE, below: 0x1200 },
  // Ethiopic.
  { ...TWO, below: 0x1380 },
  { ...THREE, below: 0x1780 },
  // Khmer.
  { below: 0x1800, whole: 1, more: 0.8 },
  { ...THREE, below: 0x1d00 },
  { ...TWO, below: 0x1d40 },
  { ...THREE, below: 0x1e00 },
  { ...LETTER, below: 0x1ea0, each: 1.3 },
  // Vietnamese.
  { ...LETTER, below: 0x1f00, each: 0.1 },
  { ...GREEK, below: 0x2000, each: 1.7 },
  // Punctuation, arrows, lines, symbols.
  { ...TWO, below: 0x2340 },
  { ...THREE, below: 0x2440 },
  { ...TWO, below: 0x26c0 },
  { ...THREE, below: 0x2700 },
  { ...TWO, below: 0x27c0 },
  { ...THREE, below: 0x2b00 },
  { ...TWO, below: 0x2b40 },
  { ...THREE, below: 0x3000 },
  { ...TWO, below: 0x3040 },
  // Japanese.
  { below: 0x3100, whole: 1, more: 0.7 },
  { ...TWO, below: 0x3180 },
  { ...THREE, below: 0x3400 },
  { ...CHINESE, below: 0x4e00, each: 2.3 },
  { ...CHINESE, below: 0xa000, each: 1.3 },
  { ...THREE, below: 0xac00 },
  { ...KOREAN, below: 0xd7a4, each: 1.4 },
  { ...THREE, below: 0xd800 },
  { ...PAIR, below: 0xd83c, each: 2.2 },
  { ...PAIR, below: 0xd83f },
  { ...PAIR, below: 0xdc00, each: 2.2 },
  { ...PAIR, below: 0xe000 },
  { ...THREE, below: 0xf000 },
  { ...TWO, below: 0xf100 },
  { ...THREE, below: 0xfe00 },
  { ...TWO, below: 0xff00 },
  // Full-width letters.
  { below: 0xff61, whole: 1, more: 0.8 },
  { ...TWO, below: 0x10000 },
]

/** Characters that are more or less frequent than their neighbours, so that they have their own tokens, or none. */
const APART: readonly (readonly [Kind, string])[] = [
  [
    SIGN,
    '\u200b\u200c\u200d\u200e\u200f\u2028\u20e3\u3000\ufe0e\ufe0f–—―‘’‚“”„‟†‡•․…‰′″‹›※₂₪€₹℃№™ⅠⅡⅤⅼ←↑→↓⇒∀∆−∙√∞∨≈≤≥≫①②③④⑤━│┃├┣║╗╝▀▄█▋░▒▓■□▪▫▬▲△▶▷►▼▽◆◇○◎●★☆☎☺♀♂♡♥♦♪♫✅✓✔✨❤➡⭐⭕、。々〇〈〉《》「」『』【】〒〔〕〖〗〜・｡｢｣､･',
  ],
  [{ ...LINE }, '─'],
  [{ ...LINE }, '═'],
  [{ ...LETTER, each: 1.6 }, 'ẴẲẪẼỠỖỴỸ\u1efa\u1efb\u1efc\u1efd\u1efe\u1eff'],
  [{ ...GREEK, each: 1.6 }, 'ΪΫΏΰΊΉΎ'],
  [{ ...CYRILLIC, each: 1.6 }, 'ЀЍѐѝЃЌЏ'],
  [TWO, 'ჱჴჶჺゐゑゎヷゟ＂＄｠ឥ\u17dd'],
  [{ ...CYRILLIC, each: 0.3 }, 'ҐґҒғҗҙҚқҡҢңҧҮүҰұҲҳҷҺһӘәӣӨөӯ'],
  [
    ARABIC,
    spans(`
531-535 538-540 544-54a 54c-550 552-556 55b 55d-55e 561-587 589 5b0 5b4-5b9 5bc 5be-5bf 5d0-5ea 5f2-5f4 60c 61b
61f 621-63a 640-654 660-66c 670 679-681 683-68a 68c-68d 68f 691 693 695-696 698-69a 6a9-6ab 6ad 6af 6b3 6b5
6ba-6bc 6be 6c0-6c1 6c3 6c6-6c8 6cb-6ce 6d0 6d2 6d4-6d5 6f0-6f9 6fd-6fe
`),
  ],
  [
    INDIAN,
    spans(`
901-903 905-90a 90f-911 913-928 92a-933 935-939 93c-943 945 947-949 94b-94d 958 95b-95e 964-970 981-983 985-987
989 98f 993 995-9a8 9aa-9b0 9b2 9b6-9b9 9bc 9be-9c3 9c7-9c8 9cb-9ce 9dc-9dd 9df 9e6-9f1 9f7 a02 a05-a09 a0f-a10
a13 a15-a18 a1a a1c-a1d a1f-a21 a23-a28 a2a-a30 a32 a35-a36 a38-a39 a3c a3e-a42 a47-a48 a4b-a4d a5b-a5c a67-a68
a70-a71 a82-a83 a85-a89 a8f a93 a95-a98 a9a-a9d a9f-aa8 aaa-ab0 ab2-ab3 ab5-ab9 abe-ac3 ac5 ac7-ac9 acb-acd
ae6-aef b06-b07 b15 b17 b19-b1c b1f b21 b23-b28 b2a b2c-b2e b30 b32-b33 b36-b39 b3e-b41 b47 b4b b4d b5f b85-b87
b89 b8e b92 b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb5 bb7-bb9 bbe-bc2 bc6-bc8 bca-bcb bcd c02 c05-c09
c0e-c0f c15-c17 c1a c1c c1f c21 c23-c28 c2a-c30 c32-c33 c35-c39 c3e-c43 c46-c48 c4a-c4d c56 c82-c83 c85-c89 c8e
c90 c92 c95-c98 c9a c9c c9f-ca8 caa-cb0 cb2-cb3 cb5-cb9 cbe-cc3 cc6-cc8 cca-ccd cd5-cd6 ce6-ce8 d02 d05-d09 d0e
d10 d12-d13 d15-d1a d1c d1e-d21 d23-d28 d2a-d39 d3e-d43 d46-d48 d4a-d4b d4d d57 d7a-d7e d82 d85 d91 d94 d9a d9c
d9f-da0 da2 da7 da9 dab dad-db1 db3-db4 db6-dbb dbd dc0-dc5 dca dcf-dd4 dd6 dd8-dda ddc-ddd e01-e02 e04 e06-e0b
e0d-e11 e13-e25 e27-e39 e40-e44 e46-e4d e51-e52
1000-1002 1004-1007 100a 100f-1012 1014-101f 1021 1025 102b-1033 1036-103e 1040-104b 104d 104f 105a
`),
  ],
  [
    CHINESE,
    `
一丁七万丈三上下不与专且世丘业东丝两严並丨个中丰串临丶丸丹为主丽举乃久么义之乌乎乐乔乗乘乙九也习乡书买乱乳乾亂了予争事二于亏云互五井亚些亞亡交亦产亩享京亭亮亲人亿什仁仅今介仍从仓仔仕他付仙代令以仪们仲件价任份企伊伍伏休众优伙
会伝伟传伤伦伯估伴伸似但位低住佐体何余佛作你佣佩佳使來例供依侠価侣侧侯侵便係促俄俊俗保信修俱俺個倍們倒候借倡値倫债值倾假偏做停健側偶偷偿傅備储催傳傷働像僕價億優儿允元兄充兆先光克免児兑兒兔党入內全兩八公六兰共关兴兵其具典养兼
兽内円冈冊册再冒写军农冠冬冰冲决况冷冻净准凉凌减凝几凡凤処凭凯凰凸出击函刀分切刊刑划列刘则刚创初删判別利别到制刷券刺刻剂則削前剑剤剧剩剪副割創劇力办功加务动助努励劲劳効势勇勒動務勝募勢勤勿包化北匙匹区医區十千升午半华协卒卓協
单卖南単博占卡卢卧卫印危即却卷卸厂厅历厉压厕厘厚原厦厨去县参參又叉及友双反収发叔取受变口古句另只叫召可台史右叶号司吃各合吉吊同名后吐向吕吗君吞吟否吧吨含听启吴吸吹吻吾呀呈告员呢周味呵呻呼命咋和咖咨咪品哈响員哥哦哪哭哲唐售唯唱
商啊問啥啦啪善喊喘喜喝單営喷嗎嗯嘉嘎嘛嘴嘿噜器四回因团団园困囲図围固国图圆圈國園圖團土圣在地圳场圾址坂均坊坏坐坑块坚坛坝坡坦坪垃型埃城埔域培基堂堡報場堵塑塔塘塞填境墓増墙增墨壁壇士壮声売处备変复夏夕外多夜够夢大天太夫央失头夹
夺奇奈奉奋奏契奔奖套奥女奴奶奷奸她好如妇妈妓妖妙妞妮妹妻姆始姐姑姓委姚姜姨姿威娃娇娘娛娜娱婆婚婦婷媒媳媽嫁嫂嫌嫩嬉子孔孕字存孙孟季孤学孩學宁它宅宇守安宋完宏宗官定宜宝实実宠审客宣室宫宮害宴家容宽宾宿寄密富寒寓寝察實寨寫寶寸对
寺寻导対寿封専射将將專尊尋對導小少尔尖尚尝尤就尸尺尼尽尾尿局屁层居届屋屏展属履屯山岁岗岛岡岩岭岳岸峡峰島崎川州巡工左巧巨差己已巴巻币市布帅师希帐帖帝带師席帮帯帰帳帶常帽幅幕干平年并幸幻幼幽广広庄庆床序库应底店府废度座庫庭康廉
廣延廷建开异弃弄弊式引弗弘弟张弱張強弹强归当录形彦彩彰影役彻彼往征径待很律後徐徒得從御復循微徳徴德徽心必忆忍志忘忙応忠忧快念忽怀态怎怒怕怖思怡急性怪总恋恐恒恢恩息恶悉悟悠患悦您悪悲情惊惑惜惠惨惯想意愛感愿慈態慎慢慧慰懂應戀戏
成我戒或战戦截戰戲戴戶户戸戻房所手才扎扑扒打払托扣执扩扫扬扰扱扶批找承技把抓投抗折抜択抢护报披抱抵押抽担拆拉拍拒拓拔拖拘招拜拟拥拨择括拳拼拾拿持挂指按挑挡挣挥振挺捕损换据捷掃授掉掌排掛採探接控推措掲揉描提插換握揭援搏搜搞搬搭
携摄摆摇摘摩摸撃撑撒撞撤播撮撸擊操據擦攝支收改攻放政故效敌敏救敗教敢散敦敬数整敵數文斗料斤断斯新方於施旁旅旋族旗无既日旦旧旨早旬旭时旺昂昆昌明易昔星映春昨昭是昼显時晋晒晓晚晨普景晰晴晶智暂暇暑暖暗暨暮暴曜曝曰曲更書曹曼曾替最
會月有朋服朗望朝期木未末本札术朱机杀杂权杆杉李杏材村杜束条来杨杭杯杰東松板极构析林枚果枝枪架柄柏某染柔柜查柱柳柴査标栋栏树栗校株样核根格桂桃框案桌桑档桥桶梁梅條梦梨梯械检棋棒棚森植椒検楚業極楼楽概榜構様槽樂樓標模樣横橋機橹橾
權欠次欢欣欧欲欺款歉歌歓歡止正此步武歩歲歳歴歷死殊残殖段殺毁毅母毎每毒比毕毛毫氏民气気氣氧水永汁求汇汉汗江池污汤決汽沁沃沈沉沒沖沙沟没沢沪河油治沿況泄泉泊法泛泡波泥注泰泳泽洁洋洗洛洞津洪洲活派流浅浆测济浓浜浦浩浪浮浴海消涉涓
涙涛润涨涩涯液涵淘淡淫深混添清済渐減渠渡温測港游湖湘湾湿満源準溪滋滑滚满滤滨滴滿漂漏演漢漫潔潘潜潭潮澡澳激灣火灭灯灰灵灾炉炎炒炮炸点為炼烈烟烦烧热無焦然焼煌煙煤照熊熟熱燃燕營爆爰爱爵父爷爸爽片版牌牙牛牡牢牧物牲特犬犯状狂狐狗
狠独狸狼猎猛猜猪猫献猴獸玄率玉王玖玛玩环现玲玻珍珠班現球理琪琳琴瑞璃環瓜瓣瓦瓶甘甚甜生產産用田由甲申电男甸町画畅界留略番畫異當疆疑疗疫疯疲疼疾病症痛療癌発登發白百的皆皇皮盆盈益盐监盒盖盗盘盛盟監盤目直相盾省眉看県真眠眼着睛睡
督瞬知矩短石矿码砂研砖破础硕硬确碍碎碑碰確碼磁磨示礼社祖祝神祥票祭禁福禧离禽禾秀私秋种科秒秘租秦积称移程稍税種稱稳稿穆積穴究空穿突窍窗窝窥立站竞竟章童端競竹笑笔符第筆等筋筑答策筛筹签简算管箭箱節篇築篮簡籍米类粉粒粗粤粮精糕糖
系紀約紅納純紙級素索紧紫累細紹終組経結絡給統絲絶經続維網総緒線締編縄縮總績繁續纠红约级纪纬纯纲纳纵纷纸纹纽线练组细织终绍经绑结绕绘给络绝统继绩绪续维综绿缓编缘缩缴缺网罗罚罩罪置署羅羊美羞群義羽翁翌習翔翠翻翼耀老考者而耐耗耳聊
职联聘聚聞聪聯聲職肃肉肌肖股肤肥肩肯育肺胃胆背胎胖胜胞胡胶胸能脂脑脚脱脸腐腕腰腳腹腾腿膜膽臀臣自臭至致臺與興舍舒舔舗舞舟航般舰船艇良色艳艷艺艾节芝芬芯花芳芸芽苍苏苑苗若苦英范茶茸草荐荒荡荣药荷莉莎莓莞莫莱莲获菌菜華菲萄萌萝营
萨萬落葉著葛葡董蒂蒙蒲蓝蔡蕉蕩薄薦薪薬藏藝藤虎虐虑處虚號虫虹虽蛇蛋蛛蜂蜜蝶融血行術街衛衡衣补表袋袖袜被袭裁裂装裏裕裙補裝裤裸製襪西要覆見規視覚覧親観覽觀见观规视览觉角解触言訂計訊討記訪設許訳診証評詞詢試話詳誉誌認誘語說説読誰
課調談請論講謝證識警議護讀變讓计订认讨让训议讯记讲许论设访诀证评识诈诉诊词译试诗诚话询该详语误诱说请诸诺读课谁调谈谋谓谜谢谨谱谷豆豊象豪豹貌負財貨販責買貸費貼賀資賞質購贝负贡财责贤败账货质贫购贯贴贵贷贸费赁资赋赌赏赔赖赚赛赞
赠赢赤赫走赴赵赶起超越趋趣足跃跌跑距跟跨路跳践踏踩踪躁身車軍転軽較載輪輯輸轉车轨轩转轮软轴轻载较辅辆辉辑输辖辛辞辣辦辨辰辱農边辺込辽达迁迅过迈迎运近返还这进远违连迟迪迫述迷迹追退送适逃逆选逊透逐递途這通速造連週進逸逻逼遂遇遊
運遍過道達違遗遠遣遥適遭遮遵選避邀還邑那邦邪邮邻郎郑部郭郵都配酒酷酸醉醒醫采释里重野量金鉄鉴銀錄錯録鍵鏈鐘鑫针钟钢钥钮钱钻铁铃铜铭银铺链销锁锅锋锐错锡锦键镇镜長长門閉開間関閱閲關门闪闭问闲间闻阁阅队阪防阳阴阵阶阻阿附际陆陈陌
降限院除险陪陰陵陶陷険陽隆隊階随隐隔際障难雀雄雅集雑雕雙雞離難雨雪零雷電需震霍霞露霸青靖静非靠面革鞋韓韩音響頁頂頃項順須預領頭頻頼題額顔願類页顶项顺须顾顿预领频颖颗题颜额風风飛飞食飯飲養餐館饭饮饰馆馈首香馨馬駅験驗马驰驱驶驻
驾验骑骗骚骤骨骰體高鬼魂魅魏魔魚鱼鲁鲜鲸鳥鸟鸡鸣鸭鸿鹅鹏鹰鹿麗麟麦麻麼黃黄黎黑黒默點鼎鼓鼠鼻齐齢龄龍龙
`,
  ],
  [
    KOREAN,
    `
가각간갈감갑값강같개객거건걸검겁것게겠겨격견결겼경계고곡곤골곳공과관광괴교구국군굴궁권귀규균그극근글금급기긴길김까깔깨꺼께껴꽃꾸꿈끄끌끔끝끼낌나난날남납났내낸낼냈냐냥너널넘네넷녀녁년념녕노논놀농높놓누눈뉴느는늘능니닉닌님닝다
닥단닫달담답닷당대댓더덕던덤데델도독돈돌동돼됐되된될됨됩두둘뒤드득든들듯등디딩따때떠떤또뜨뜻라락란람랍랑래랙랜램랩랫략량러럭런럴럼럽렇레렉렌렛려력련렬렴렵렸령례로록론롤롭롯뢰료루룸룹류률르른를름리릭린릴림립릿링마막만많말맛망
맞매맥맨머먹먼멀메멘며면명몇모목몬몰몸못무문물뮤므미민밀밍및바박밖반받발밤방배백버번벌범법베벤벨벽변별병보복본볼봉봐봤부북분불붙뷰브블비빈빌빙빛빠뿐쁘쁜사삭산살삼상새색생샵서석선설섭성세센셀셔션셜셨소속손솔송쇄쇼수숙순술숨쉬
쉽슈스슨슬슴습슷승시식신실심십싱싶싸써쓰쓴씀씨씩씬아악안않알암압았앙앞애액앤앨야약양어억언얼엄업없엇었에엔엘여역연열염였영예오옥온올옵와완왔왕왜외요욕용우욱운울움웃워원월웠웨웹위윈유육윤율융으은을음응의이익인일읽임입있자작잔
잘잠잡장재쟁저적전절점접정제젝젠져졌조족존좀종좋좌죄죠주죽준줄중줘즈즌즐즘증지직진질짐집짓징짜짝째쪽찌찍차착찬찮찰참창찾채책처척천철첨첫청체쳐쳤초촉촌총최추축춘출춤충춰취츠측층치칙친칠침칭카칼캐커컨컬컴컵케켓켜코콘콜콩쿠큐크
큰클큼키킨킬킹타탁탄탈탕태택터턴털테텍텐텔템토톡톤통퇴투튀튜트특튼틀티틱틴팀팅파판팔패팩팬퍼페펴편평폐포폭폰폴폼표푸풀품풍퓨프픈플피픽핀필핏핑하학한할함합항해했행향허헌험헤혀혁현혈협형혜호혹혼홀홈홍화확환활황회획효후훈휘휴흡
흥희히힌힘
`,
  ],
]

const KINDS: readonly Kind[] = [
  BLANK,
  TAB,
  BREAK,
  DIGIT,
  MARK,
  CONTROL,
  LETTER,
  ...OTHERS,
  ...APART.map(([kind]) => kind),
]
const KIND_OF = indexOfKinds()

/**
 * An estimate for any language, in bounded time. A real tokenizer table would take 67 MB and half a second to load, and
 * quadratic time for long words: a Chinese page is one word.
 */
export function estimatedTokens(text: string): number {
  if (text.length <= READ.max) return Math.ceil(tokensOf(text))
  const part = text.length / READ.pieces
  let tokens = 0
  for (let i = 0; i < READ.pieces; i++) {
    // A piece may begin anywhere in its part, and wraps around, so that the ends are sampled as often as the rest.
    const at = Math.floor((i + Math.random()) * part)
    const over = Math.max(0, at + READ.chars - text.length)
    tokens += tokensOf(text.slice(at, at + READ.chars) + text.slice(0, over))
  }
  return Math.ceil((tokens * text.length) / (READ.pieces * READ.chars))
}

function tokensOf(text: string): number {
  let sum = 0
  let at = 0
  let index = text.length === 0 ? 0 : indexAt(text, 0)
  while (at < text.length) {
    const kind = KINDS[index] as Kind
    let end = at
    let beside = 0
    let next = index
    // A run of one kind, or a word of several kinds.
    do {
      beside += (KINDS[next] as Kind).each ?? 0
      end += 1
      next = end < text.length ? indexAt(text, end) : -1
    } while (next >= 0 && (next === index || isSameWord(kind, next)) && !begins(kind, text, end))
    if (end - at > 1 || !isBlank(kind)) sum += beside + 1 + Math.max(0, end - at - kind.whole) * kind.more
    // A single blank belongs to the next word, but not to a number. Alternating blanks are counted in pairs.
    else if (isBlank(KINDS[next])) sum += 0.5
    else if (KINDS[next] === DIGIT) sum += 1
    at = end
    index = next
  }
  return sum
}

function indexAt(text: string, at: number): number {
  return KIND_OF[text.charCodeAt(at)] as number
}

function isBlank(kind: Kind | undefined): boolean {
  return kind === BLANK || kind === TAB
}

function isSameWord({ word }: Kind, next: number): boolean {
  return word !== undefined && (KINDS[next] as Kind).word === word
}

function begins(kind: Kind, text: string, at: number): boolean {
  return kind === BREAK ? beginsLines(text, at) : beginsWord(text, at)
}

/** A capital after a small letter begins a word. */
function beginsWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 65 && code <= 90 && text.charCodeAt(at - 1) >= 97
}

/** Line ends of another sort (LF, CR LF, or each CR) begin a new token. */
function beginsLines(text: string, at: number): boolean {
  const isAfterPair = text.charCodeAt(at - 1) === LF && text.charCodeAt(at - 2) === CR
  if (text.charCodeAt(at) === LF) return isAfterPair
  return !isAfterPair || text.charCodeAt(at + 1) !== LF
}

function indexOfKinds(): Uint8Array {
  const indexes = new Uint8Array(0x10000)
  let from = 128
  for (const kind of OTHERS) {
    indexes.fill(KINDS.indexOf(kind), from, kind.below)
    from = kind.below
  }
  for (let code = 0; code < 128; code++) indexes[code] = KINDS.indexOf(plainKind(String.fromCharCode(code)))
  for (const [kind, letters] of APART)
    for (const letter of letters) if (letter !== '\n') indexes[letter.charCodeAt(0)] = KINDS.indexOf(kind)
  return indexes
}

/** Hexadecimal codes and spans of codes: the letters themselves would be hard to read. */
function spans(codes: string): string {
  const letters = codes
    .trim()
    .split(/\s/)
    .flatMap((span) => {
      const [from, to] = span.split('-').map((code) => Number.parseInt(code, 16)) as [number, number | undefined]
      return Array.from({ length: (to ?? from) - from + 1 }, (_, i) => String.fromCharCode(from + i))
    })
  return letters.join('')
}

function plainKind(letter: string): Kind {
  if (letter === ' ') return BLANK
  if (letter === '\t') return TAB
  if (letter === '\n' || letter === '\r') return BREAK
  if (letter < ' ' || letter === '\x7f') return CONTROL
  if (/\d/.test(letter)) return DIGIT
  return /[a-z]/i.test(letter) ? LETTER : MARK
}
