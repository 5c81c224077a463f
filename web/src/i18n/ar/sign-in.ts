// The Arabic texts of signing in and of passkeys.
import type { signIn as english } from '../en/sign-in.js';
import type { Translation } from '../t.js';

export const signIn: Translation<typeof english> = {
  'signIn.title': 'تسجيل الدخول',
  'signIn.key': 'مفتاح API',
  'signIn.submit': 'تسجيل الدخول',
  'signIn.hint': 'مفتاح لحسابك يبدأ بـ mansio_‎. لا يُحفظ، بل تبدأ به جلسة في هذا المتصفح.',
  'signIn.link': 'إن لم يكن لديك مفتاح، ينشئ المشغّل رابطًا لتسجيل الدخول مرة واحدة:',
  'signIn.demo': 'يطبع العرض التجريبي (npm start) مثل هذا الرابط عند بدئه.',
  'signIn.refused': 'هذا المفتاح غير صالح. تحقق من لصقه كاملًا؛ وربما أُلغي.',
  'signIn.passkey': 'تسجيل الدخول بمفتاح مرور',
  'passkeys.title': 'مفاتيح المرور',
  'passkeys.about': 'بمفتاح المرور تسجّل الدخول ببصمة الإصبع أو الوجه أو رمز PIN، دون مفتاح أو رابط.',
  'passkeys.offer': 'في المرة القادمة سجّل الدخول ببصمة هذا الجهاز أو وجهك أو رمز PIN.',
  'passkeys.make': 'إنشاء مفتاح مرور',
  'passkeys.notNow': 'عدم عرض مفتاح المرور مرة أخرى',
  'passkeys.added': 'أُنشئ مفتاح المرور. تجده في الإعدادات تحت الأجهزة.',
  'passkeys.addedNamed': 'أُضيف {name}.',
  'passkeys.name': 'اسم مفتاح مرور جديد',
  'passkeys.add': 'إضافة مفتاح مرور',
  'passkeys.made': 'لم يُستخدم بعد؛ أُنشئ: {date}',
  'passkeys.remove': 'إزالة',
  'passkeys.removeNamed': 'إزالة: {name}',
  'passkeys.removeQuestion': 'لن يسجّل هذا المفتاح الدخول بعد الآن. المتصفحات المسجّلة به تبقى مسجّلة.',
  'passkeys.removed': 'أُزيل {name}. احذفه من الجهاز أيضًا كي لا يعرضه بعد الآن.',
  'passkeys.notRemoved': 'لم يُزل {name} وما زال يسجّل الدخول. {reason}',
  'passkeys.notAdded': 'لم يُضف أي مفتاح مرور. {reason}',
  'passkeys.notRead': 'لا يمكن عرض مفاتيح المرور الآن. {reason}',
  'passkeys.elsewhere': 'لا يمكن إضافة مفاتيح مرور على هذا العنوان. فهي تحتاج إلى اسم الخادم عبر https.',
  'passkeys.fault.unknown':
    'مفتاح المرور هذا لا يسجّل الدخول: أُزيل من الحساب، أو تأخر الجواب. حاول مرة أخرى؛ فإن تعذّر فسجّل الدخول بمفتاح API وأضف مفتاح مرور في الإعدادات.',
  'passkeys.fault.late': 'لم يُضف أي مفتاح مرور: تأخر الجواب أو لم يطابق. حاول مرة أخرى.',
  'passkeys.fault.cancelled': 'لم يُستخدم أي مفتاح مرور. حاول مرة أخرى، أو سجّل الدخول بمفتاح API أو رابط.',
  'passkeys.fault.notAdded': 'لم يُضف أي مفتاح مرور: أُغلق السؤال أو انتهى وقته. حاول مرة أخرى متى شئت.',
  'passkeys.fault.known': 'لهذا الجهاز مفتاح مرور للحساب من قبل. سجّل الدخول به، أو أزله أولًا.',
  'passkeys.fault.unable':
    'لا يستطيع هذا الجهاز حفظ مفتاح مرور يطلب البصمة أو الوجه أو رمز PIN. فعّل قفل الشاشة، أو استخدم جهازًا آخر.',
  'passkeys.fault.elsewhere': 'لا تعمل مفاتيح المرور على هذا العنوان. افتح الصفحة باسم الخادم عبر https.',
};
