#include "event_queue.h"
