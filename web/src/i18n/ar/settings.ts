// The Arabic texts of the settings.
import type { settings as english } from '../en/settings.js';
import type { Translation } from '../t.js';

export const settings: Translation<typeof english> = {
  'settings.title': 'الإعدادات',
  'settings.open': 'إلى الإعدادات',
  'settings.notLoaded': 'تعذّر تحميل الإعدادات. لم يتغيّر شيء.',
  'settings.again': 'حاول مرة أخرى',
  'settings.saving': 'جارٍ الحفظ…',
  'settings.saved': 'تم الحفظ',
  'settings.choiceKept': 'لم يُحفظ هذا، وبقي الإعداد السابق. اختر من جديد للمحاولة مرة أخرى. {reason}',
  'settings.section.general': 'عام',
  'settings.theme': 'المظهر',
  'settings.theme.system': 'مثل الجهاز',
  'settings.theme.light': 'فاتح',
  'settings.theme.dark': 'داكن',
  'settings.showPreview': 'إظهار بداية كل رسالة في القوائم',
  'settings.sort': 'ترتيب القوائم',
  'settings.undoSend': 'مهلة التراجع عن الإرسال',
  'settings.undoSend.hint': 'تنتظر الرسالة هذه المدة قبل إرسالها.',
  'settings.undoSend.off': 'بلا مهلة: أرسل فورًا',
  'settings.seconds': {
    zero: '{count} ثانية',
    one: 'ثانية واحدة',
    two: 'ثانيتان',
    few: '{count} ثوانٍ',
    many: '{count} ثانية',
    other: '{count} ثانية',
  },
};
