// The Arabic texts of the frame of the page.
import type { app as english } from '../en/app.js';
import type { Translation } from '../t.js';

export const app: Translation<typeof english> = {
  'app.reconnecting': 'جارٍ إعادة الاتصال…',
  'app.offline': 'غير متصل: يُرسَل ما تفعله لاحقًا',
  'app.menu': 'المجلدات',
  'app.back': 'رجوع',
  'app.close': 'إغلاق',
  'app.cancel': 'إلغاء',
  'app.failed': 'تعذّر ذلك: {reason}',
  'app.noAnswer': 'الخادم لا يستجيب',
  'app.signOut': 'تسجيل الخروج',
  'app.message': 'الرسالة',
  'app.noMessage': 'اختر رسالة لقراءتها هنا.',
  'app.notFound': 'لا يوجد شيء في هذا العنوان.',
  'app.toInbox': 'إلى البريد الوارد',
  'keys.title': 'المفاتيح',
  'keys.hint': 'تعمل ما دام التركيز خارج الحقول.',
  'keys.sheet': 'عرض المفاتيح',
  'undo.undo': 'تراجع',
  'undo.dismiss': 'إخفاء',
  'undo.undone': 'تم التراجع',
  'undo.progress': 'التقدّم',
  'undo.of': '{done} من {total}',
  'undo.undoing': 'جارٍ التراجع…',
  'undo.key': 'التراجع عن آخر إجراء',
  'app.nothingKept': 'لم يحفظ هذا المتصفح شيئًا بعد. يظهر البريد حالما يجيب الخادم.',
  'app.lateRefusal': 'رُفض شيء فعلته دون اتصال، وعاد كما كان: {reason}',
};
