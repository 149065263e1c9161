#pragma once
#include <crypt.h>
#include <stdlib.h>
